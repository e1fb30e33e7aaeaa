"""Plays a run on a Ray cluster of two nodes and kills one of them in mid-run (see test_ray.py).

    python two_ray_nodes.py RUN_DIR COUNT_FILE COMMAND ...

The command is given `--ray ADDRESS`. Writes into COUNT_FILE how many chunks were stored when the
node was killed (Ray prints on stdout what it likes).
"""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

MEMORY = 100 * 2**20
STORED = 3
"""Chunks after which the node is killed, as soon as both nodes are seen at work."""


def main(run_dir: Path, count_file: Path, command: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    node = {"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        second = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        cluster.wait_for_nodes()
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.CRITICAL)
        played = subprocess.Popen([*command, "--ray", cluster.address])
        while stored(run_dir) < STORED or ray.available_resources().get("CPU", 0):
            if played.poll() is not None:
                return played.returncode or 1
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)
        count_file.write_text(str(stored(run_dir)))
        return played.wait()
    finally:
        ray.shutdown()
        cluster.shutdown()


def stored(run_dir: Path) -> int:
    return len(list(run_dir.glob("rows/*.gz")))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
