import type { IStateDB } from '@jupyterlab/statedb';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';
import { SplitPanel } from '@lumino/widgets';

const REMEMBERED = 'hdsp-agent:panel-widened';

/**
 * Make the side bar wide enough to read in when the panel is opened for the
 * first time; afterwards it is as the person has it.
 */
export function widenOnce(
  widget: Widget,
  memory: Pick<IStateDB, 'fetch' | 'save'>
): void {
  const begin = async (): Promise<void> => {
    if ((await memory.fetch(REMEMBERED)) !== true) {
      widen(widget);
      await memory.save(REMEMBERED, true);
    }
  };
  if (widget.isVisible) {
    // A layout that is restored may have it open.
    void begin();
    return;
  }
  const hook = (_: unknown, message: Message): boolean => {
    if (message.type === 'after-show') {
      MessageLoop.removeMessageHook(widget, hook);
      void begin();
    }
    return true;
  };
  MessageLoop.installMessageHook(widget, hook);
}

/**
 * How wide the panel is to be, and from which width of the page on, in pixels.
 */
const WIDTH = 380;
const LEAST_PAGE = 1000;

function widen(widget: Widget): void {
  let child = widget;
  while (child.parent !== null && !(child.parent instanceof SplitPanel)) {
    child = child.parent;
  }
  const split = child.parent;
  const total = split?.node.clientWidth ?? 0;
  if (!(split instanceof SplitPanel) || total < LEAST_PAGE) {
    return;
  }
  const sizes = split.relativeSizes();
  const own = split.widgets.indexOf(child);
  const missing = WIDTH / total - sizes[own];
  const widest = sizes.indexOf(Math.max(...sizes));
  if (missing > 0 && widest !== own) {
    sizes[own] += missing;
    sizes[widest] -= missing;
    split.setRelativeSizes(sizes);
  }
}
