"""Questions that come on the control channel and are worked on by the main thread, between two cells."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import contextlib
import contextvars
import sys

ASK_ON_SHELL = "ask on shell"


def listen(shell, key, answer, at_once):
    """Answer requests that have this key; those that can be answered ``at_once`` also while a cell runs."""
    kernel = shell.kernel
    _leave_prints_alone(kernel, key)
    before = kernel.control_handlers.get("comm_info_request")
    before_on_shell = kernel.shell_handlers["comm_info_request"]

    def on_control(stream, ident, parent):
        asked = parent["content"].get(key)
        if asked is None:
            return before(stream, ident, parent) if before is not None else None
        reply = _reply(kernel, key, stream, ident, parent)
        if at_once(asked):
            reply(answer(asked))
        elif getattr(kernel, "eventloop", None) is not None:
            # The main thread is in a window's loop, which only a message on shell ends.
            reply(ASK_ON_SHELL)
        else:
            loop = (getattr(kernel, "control_thread", None) or kernel).io_loop

            def work():
                _print_for(shell, parent)
                try:
                    with _interruptible(kernel):
                        told = answer(asked)
                except KeyboardInterrupt:
                    told = {"error": "KeyboardInterrupt"}
                loop.add_callback(reply, told)

            kernel.io_loop.add_callback(_between_cells, kernel, work)
        return None

    def on_shell(stream, ident, parent):
        asked = parent["content"].get(key)
        if asked is None:
            return before_on_shell(stream, ident, parent)

        def work():
            _print_for(shell, parent)
            return answer(asked)

        _reply(kernel, key, stream, ident, parent)(contextvars.copy_context().run(work))
        return None

    kernel.control_handlers["comm_info_request"] = on_control
    kernel.shell_handlers["comm_info_request"] = on_shell


def _leave_prints_alone(kernel, key):
    """ipykernel gives what threads print to the newest request on shell. To ours it gives nothing, from its first checkpoint on."""
    from ipykernel.kernelbase import Kernel

    before = kernel.set_parent

    def set_parent(ident, parent, *channel, **named):
        is_ours = key in parent.get("content", ()) and parent["header"]["msg_type"] == "comm_info_request"
        # The base class sets whom the status and the reply go to, and IPython's kernel besides it who prints.
        set_one = Kernel.set_parent.__get__(kernel) if is_ours else before
        return set_one(ident, parent, *channel, **named)

    kernel.set_parent = set_parent


def _reply(kernel, key, stream, ident, parent):
    def reply(told):
        kernel.session.send(stream, "comm_info_reply", {"status": "ok", "comms": {}, key: told}, parent, ident)

    return reply


async def _between_cells(kernel, work):
    """Do it when no cell runs, after those that wait already."""
    lock = getattr(kernel, "_main_asyncio_lock", None)
    if lock is not None:
        async with lock:
            work()
    elif hasattr(kernel, "schedule_dispatch"):

        async def dispatch():
            work()

        # Before ipykernel 7.
        kernel.schedule_dispatch(dispatch)
    else:
        work()


@contextlib.contextmanager
def _interruptible(kernel):
    """As while a request on shell is worked on."""
    kernel.pre_handler_hook()
    try:
        yield
    finally:
        kernel.post_handler_hook()


def _print_for(shell, parent):
    """In this context what is printed or shown belongs to the question, which nobody shows."""
    for one in (sys.stdout, sys.stderr, shell, shell.displayhook, shell.display_pub):
        header = getattr(one, "_parent_header", None)
        if isinstance(header, contextvars.ContextVar):
            header.set(parent if one is shell else parent["header"])
