# SPDX-License-Identifier: MIT
"""How processes of this machine really ended, from the kernel: a witness that has nothing to do with traces."""

import contextlib
import socket
import struct
import threading

NETLINK_CONNECTOR, NETLINK_RECEIVE_FORCED = 11, 33
OF_PROCESSES = (1, 1)  # CN_IDX_PROC, CN_VAL_PROC
LISTEN, IGNORE = 1, 2
EXIT_EVENT = 0x80000000
ROOM_BYTES = 32 << 20


class Endings:
    """The wait status of every process that ended while it was open; `statuses` is None where the kernel does not tell
    (it takes root of the machine)."""

    def __init__(self):
        self.statuses = None
        try:
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR)
            self.socket.setsockopt(socket.SOL_SOCKET, NETLINK_RECEIVE_FORCED, ROOM_BYTES)
            self.socket.bind((0, OF_PROCESSES[0]))
            self._ask(LISTEN)
        except OSError:
            return
        self.statuses = {}
        self.lost = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _ask(self, operation):
        body = struct.pack("=IIIIHHI", *OF_PROCESSES, 0, 0, 4, 0, operation)
        self.socket.send(struct.pack("=IHHII", 16 + len(body), 3, 0, 0, 0) + body)

    def _read(self):
        while True:
            try:
                message = self.socket.recv(65536)
            except OSError as error:
                if error.errno != 105:  # ENOBUFS: some were lost, others follow
                    return
                self.lost = True
                continue
            if len(message) < 16 + 20 + 16 + 16 or not message:
                continue
            what, = struct.unpack_from("=I", message, 36)
            if what == EXIT_EVENT:
                _, process, status = struct.unpack_from("=III", message, 52)
                self.statuses[process] = status  # the last thread's, which is the process's

    def close(self):
        if self.statuses is not None:
            with contextlib.suppress(OSError):
                self._ask(IGNORE)
            self.socket.close()

    def died_of_signal(self, process):
        """True, False, or None when it is not known."""
        if self.statuses is None or process not in self.statuses:
            return None
        return self.statuses[process] & 0x7F != 0
