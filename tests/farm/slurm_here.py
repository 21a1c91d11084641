"""A Slurm of two nodes on this machine, on loopback, in a folder of its own: munged, slurmctld and two slurmd."""

import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

NODES = ("n1", "n2")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for connection in sockets:
        connection.bind(("127.0.0.1", 0))
    ports = [connection.getsockname()[1] for connection in sockets]
    for connection in sockets:
        connection.close()
    return ports


class SlurmHere:
    """Slurm that `with` starts and ends, with all of its processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.conf = folder, folder / "slurm.conf"
        self._daemons: dict[str, subprocess.Popen] = {}
        self.environment = os.environ | {"SLURM_CONF": str(self.conf)}

    def __enter__(self):
        control, *ports = free_ports(3)
        user = "root" if os.geteuid() == 0 else os.environ["USER"]
        (self.folder / "state").mkdir()
        (self.folder / "munge").mkdir(mode=0o700)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        lines = [
            "ClusterName=conjac", f"SlurmctldHost={socket.gethostname().partition('.')[0]}(127.0.0.1)",
            f"SlurmctldPort={control}", f"SlurmUser={user}", f"SlurmdUser={user}", "AuthType=auth/munge",
            f"AuthInfo=socket={self.folder}/munge/socket,cred_expire=5",
            "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny", f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool-%n", f"SlurmdPidFile={self.folder}/%n.pid",
            f"SlurmctldPidFile={self.folder}/control.pid", "ProctrackType=proctrack/pgid", "TaskPlugin=task/none",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "ReturnToService=2", "SlurmdTimeout=10",
            "MpiDefault=none", "JobRequeue=1", "KillWait=10", "SchedulerParameters=sched_interval=5",
            *(f"NodeName={node} NodeHostname={socket.gethostname().partition('.')[0]} NodeAddr=127.0.0.1 Port={port} "
              "CPUs=1 RealMemory=2000" for node, port in zip(NODES, ports)),
            f"PartitionName=all Nodes={','.join(NODES)} Default=YES State=UP MaxTime=INFINITE",
        ]
        self.conf.write_text("\n".join(lines) + "\n")
        self._start("munge", "munged", "--foreground", "--force", f"--key-file={key}",
                    f"--socket={self.folder}/munge/socket", f"--pid-file={self.folder}/munge/pid",
                    f"--seed-file={self.folder}/munge/seed", f"--log-file={self.folder}/munge/log")
        self._wait(lambda: (self.folder / "munge/socket").exists(), "munged")
        self._start("control", "slurmctld", "-D", "-f", str(self.conf))
        for node in NODES:
            self._start(node, "slurmd", "-D", "-N", node, "-f", str(self.conf))
        self._wait(lambda: self.run("sinfo", "-h", "-N", "-o", "%N %t").count(" idle") == 2, "both nodes")
        return self

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user", "root" if os.geteuid() == 0 else os.environ["USER"]],
                       env=self.environment, capture_output=True)
        for node in NODES:
            self.kill_node(node)
        for name in ("control", "munge"):
            if name in self._daemons:
                self._daemons[name].terminate()
                self._daemons[name].wait(30)

    def _start(self, name, *command):
        def limits():
            resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))  # slurmd closes every one that it may have

        log = open(self.folder / f"{name}.log", "wb")
        self._daemons[name] = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log,
                                               stdin=subprocess.DEVNULL, preexec_fn=limits, start_new_session=True)

    def _wait(self, until, what, seconds=60):
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))
                raise AssertionError(f"{what} did not come up:\n{logs}")
            time.sleep(0.2)

    def run(self, *command):
        """Return the standard output of one of Slurm's commands; "" where it failed."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def jobs(self):
        """Return lines of id, name, state, node and reason of what is queued or runs."""
        return [line.split("|") for line in self.run("squeue", "-h", "-r", "-o", "%i|%j|%T|%N|%r").splitlines()]

    def kill_node(self, node):
        """End slurmd and all that it started at once, as if the node's power went."""
        daemon = self._daemons.pop(node, None)
        if daemon is None:
            return
        steps = self._steps(node)
        for pid in [daemon.pid, *(pid for step in steps for pid in [step, *descendants(step)])]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        daemon.wait(30)

    def _steps(self, node):
        """Return the slurmstepd of a node, which are no children of its slurmd."""
        steps = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                command = (path.parent / "comm").read_text().strip()
                if command.startswith("slurmstepd") and self._is_of(path, node):
                    steps.append(int(path.parent.name))
            except OSError:
                continue
        return steps

    def _is_of(self, environ, node):
        """Whether a slurmstepd belongs to this Slurm's node, according to its command line."""
        pid = int(environ.parent.name)
        for child in descendants(pid):
            try:
                environment = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"SLURMD_NODENAME={node}".encode() in environment and f"SLURM_CONF={self.conf}".encode() in environment:
                return True
        return False


def descendants(pid):
    """Return the ids of all processes below one."""
    processes, queue = [], [pid]
    while queue:
        parent = queue.pop()
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(word) for word in path.read_text().split()]
            except OSError:
                continue
            processes += children
            queue += children
    return processes
