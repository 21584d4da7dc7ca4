"""Bytes in pieces, each named by its content, and the thread that writes them."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import concurrent.futures
import contextlib
import errno
import hashlib
import os
import queue
import random
import sys
import threading

SIZE = 1 << 20
PARTIAL = ".part"
"""How a piece's name ends until it is whole."""
_WORDS = SIZE // 8
_READERS = min(4, os.cpu_count() or 1)
_FEW = 4


class StoreFull(Exception):
    """More would have to wait in memory than is allowed."""


class NotWritten(Exception):
    """The store's folder does not take it."""


class ChangedMeanwhile(Exception):
    """It was another when it was copied than when it was looked at."""


class Chunks:
    """The store's folder, as this kernel sees it."""

    def __init__(self):
        self.folder = None
        self.epoch = None
        self.held = 0
        self.failure = None
        self.careful = False
        """Whether somebody may change what is saved meanwhile."""
        self._known = set()
        self._todo = queue.Queue()
        self._thread = None
        self._marks = None
        self._lock = threading.Lock()

    def use(self, folder, epoch):
        """Write there. True when what was written before may be gone."""
        again = (folder, epoch) != (self.folder, self.epoch) or self.failure is not None
        self.folder, self.epoch, self.failure = folder, epoch, None
        if again:
            self._known.clear()
        return again

    def forget(self):
        """Somebody dropped what was written."""
        self._known.clear()

    def pieces(self, view, before=(), stopped=lambda: False):
        """``(mark, key)`` of each piece of these bytes. A piece whose mark is the same as before keeps its key."""
        found = []
        for number, start in enumerate(range(0, view.nbytes, SIZE)):
            if stopped():
                break
            piece = view[start : start + SIZE]
            if self.careful:
                # Both its mark and its key are of the same bytes.
                piece = memoryview(bytes(piece))
            mark = self.mark(piece)
            if number < len(before) and mark is not None and before[number][0] == mark:
                found.append(before[number])
            else:
                found.append((mark, hashlib.sha256(piece).hexdigest()))
        return found

    def keep(self, view, pieces, most):
        """Copy what the store lacks and have it written. ``most``: bytes that may wait in memory; None writes at once.

        Raises ChangedMeanwhile for bytes that have changed since they were named; what the store then has is whole all the same.
        """
        for number, (_, key) in enumerate(pieces):
            with self._lock:
                if key in self._known:
                    continue
            piece = view[number * SIZE : (number + 1) * SIZE]
            if self._is_there(key, piece.nbytes):
                self._known.add(key)
                continue
            if most is not None and self.held + piece.nbytes > most:
                raise StoreFull
            copy = bytes(piece)
            if self.careful and hashlib.sha256(copy).hexdigest() != key:
                raise ChangedMeanwhile
            if most is None and self.held > SIZE * 64:
                try:
                    self.write(key, copy)
                except OSError as error:
                    self.failure = told(error)
                    raise NotWritten(self.failure) from error
                continue
            self._known.add(key)
            self._later(self._write_held, key, copy)
            with self._lock:
                self.held += len(copy)

    def after(self, call):
        """Call this when everything given so far is on disk, or could not be written."""
        self._later(call)

    def read(self, keys, size, into=None, near=None):
        """The bytes of these pieces, checked. ``near`` fills those that are in memory already, and says whether it did."""
        whole = bytearray(size) if into is None else into
        view = memoryview(whole)
        if view.nbytes != size or len(keys) != -(-size // SIZE):
            raise ValueError("a part of the store has another size than what it is for")
        pieces = [(key, view[number * SIZE : (number + 1) * SIZE]) for number, key in enumerate(keys)]
        far = [one for one in pieces if near is None or not near(*one)]
        if len(far) < _FEW:
            for key, piece in far:
                self._read(key, piece)
            return whole
        # Files and hashes leave the interpreter to others.
        with concurrent.futures.ThreadPoolExecutor(_READERS, "hdsp-agent-reader") as readers:
            for _ in readers.map(lambda one: self._read(*one), far):
                pass
        return whole

    def _read(self, key, piece):
        with open(self.path(key), "rb", buffering=0) as file:
            count = 0
            while count < piece.nbytes:
                got = file.readinto(piece[count:])
                if not got:
                    break
                count += got
        if count != piece.nbytes or hashlib.sha256(piece).hexdigest() != key:
            raise ValueError("a piece of the store is not what it was when it was written")

    def _is_there(self, key, size):
        """Whether the store has it. What a broken disk has cut short is written again."""
        path = self.path(key)
        try:
            if os.stat(path).st_size != size:
                return False
            os.utime(path)
        except OSError:
            return False
        return True

    def path(self, key):
        """Where a piece is."""
        return os.path.join(self.folder, key[:2], key)

    def _later(self, call, *arguments):
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="hdsp-agent-writer", daemon=True)
            self._thread.start()
        self._todo.put((call, arguments))

    def _work(self):
        while True:
            call, arguments = self._todo.get()
            call(*arguments)
            # Not held while waiting for more.
            call = arguments = None

    def _write_held(self, key, piece):
        try:
            if self.failure is None:
                self.write(key, piece)
        except OSError as error:
            self.failure = told(error)
        finally:
            with self._lock:
                self.held -= len(piece)

    def write(self, key, piece):
        """Put a piece into the folder, whole or not at all."""
        path = self.path(key)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        partial = f"{path}.{os.getpid()}.{threading.get_ident()}{PARTIAL}"
        try:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "wb", buffering=0) as file:
                rest = memoryview(piece)
                while rest.nbytes:
                    rest = rest[file.write(rest) :]
                os.fsync(handle)
            # Before it is there: whoever drops it meanwhile also forgets it.
            self._known.add(key)
            os.replace(partial, path)
        except OSError:
            self._known.discard(key)
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise

    def mark(self, piece):
        """A hash an order of magnitude faster than a cryptographic one: products with odd numbers drawn by this process.

        Of whole words and of their upper halves: modulo 2**64 alone, two flipped signs would cancel each other.
        """
        numpy = sys.modules.get("numpy")
        if numpy is None or piece.nbytes < 1 << 14:
            return None
        if self._marks is None:
            draw = random.SystemRandom()
            words = [
                numpy.frombuffer(draw.getrandbits(64 * _WORDS).to_bytes(SIZE, "little"), numpy.uint64) | numpy.uint64(1)
                for _ in range(2)
            ]
            self._marks = words, numpy.empty(_WORDS, numpy.uint64)
        (whole, upper), space = self._marks
        words = piece.nbytes // 8
        data = numpy.frombuffer(piece, numpy.uint64, words)
        if threading.current_thread() is not threading.main_thread():
            space = numpy.empty(words, numpy.uint64)
        numpy.right_shift(data, numpy.uint64(32), out=space[:words])
        return (
            piece.nbytes,
            int(numpy.dot(data, whole[:words])),
            int(numpy.dot(space[:words], upper[:words])),
            bytes(piece[words * 8 :]),
        )


def told(error):
    """An error of the disk in words."""
    if error.errno == errno.ENOSPC or error.errno == errno.EDQUOT:
        return "there is no space left for the variables' checkpoint"
    return "the variables' checkpoint could not be written: %s" % (error.strerror or error)
