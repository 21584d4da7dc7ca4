import * as React from 'react';

import { isComposing } from '../inputmethod';
import { usePanel } from '../services';

/**
 * A button with a small window that belongs to it.
 *
 * #### Notes
 * The window is above the button, or below where there is more room, and never
 * wider than the panel. Escape, a click elsewhere and leaving it close it; the
 * focus is at the button then, unless it went somewhere else.
 */
export function Popover({
  label,
  buttonLabel,
  description,
  className,
  face,
  disabledReason,
  children
}: {
  /**
   * The name of the button and the window.
   */
  readonly label: string;

  /**
   * The name of the button, if another one; it has in it what the button shows.
   */
  readonly buttonLabel?: string;

  /**
   * What is shown when one points at the button, if not its name.
   */
  readonly description?: string;
  readonly className: string;

  /**
   * What the button shows.
   */
  readonly face: React.ReactNode;

  /**
   * Why the button cannot be pressed now; none if it can.
   */
  readonly disabledReason?: string;

  /**
   * What the window holds; it is given what closes it.
   */
  readonly children: (close: () => void) => React.ReactNode;
}): JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const close = React.useCallback(() => {
    setOpen(false);
    button.current?.focus();
  }, []);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={buttonLabel ?? label}
        title={disabledReason ?? description ?? label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        disabled={disabledReason !== undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {face}
      </button>
      {isOpen && (
        <PopoverWindow
          label={label}
          button={button}
          onClose={close}
          onLeave={() => setOpen(false)}
        >
          {children(close)}
        </PopoverWindow>
      )}
    </>
  );
}

function PopoverWindow({
  label,
  button,
  onClose,
  onLeave,
  children
}: {
  label: string;
  button: React.RefObject<HTMLButtonElement>;
  onClose: () => void;
  onLeave: () => void;
  children: React.ReactNode;
}): JSX.Element {
  const { node } = usePanel();
  const popup = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    const element = popup.current;
    if (!element || !button.current) {
      return undefined;
    }
    element.focus();
    const anchor = button.current;
    const place = () => Private.place(element, anchor, node);
    place();
    // What it holds may come later, and the panel may change its size.
    if (typeof ResizeObserver === 'undefined') {
      return undefined;
    }
    const observer = new ResizeObserver(place);
    observer.observe(element);
    observer.observe(node);
    return () => observer.disconnect();
  }, [button, node]);
  React.useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent) => {
      const isHere =
        target instanceof Node &&
        (popup.current?.contains(target) ||
          button.current?.contains(target) ||
          Private.isInDialog(target));
      if (!isHere) {
        onLeave();
      }
    };
    document.addEventListener('pointerdown', onPointerDown, true);
    return () =>
      document.removeEventListener('pointerdown', onPointerDown, true);
  }, [button, onLeave]);
  return (
    <div
      ref={popup}
      className="jp-hdspAgent-ask-popover"
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      // Escape closes it; to Lab it means to leave the panel.
      data-lm-suppress-shortcuts="true"
      onKeyDown={event => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
          event.stopPropagation();
          onClose();
        }
      }}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (
          relatedTarget instanceof Node &&
          !currentTarget.contains(relatedTarget) &&
          relatedTarget !== button.current &&
          !Private.isInDialog(relatedTarget)
        ) {
          onLeave();
        }
      }}
    >
      {children}
    </div>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  const GAP = 4;
  const MARGIN = 8;
  const WIDEST = 360;

  /**
   * Whether a node is in a dialog of JupyterLab, which was opened from here and
   * comes back here.
   */
  export function isInDialog(node: Node): boolean {
    return node instanceof Element && node.closest('.jp-Dialog') !== null;
  }

  /**
   * Put a window at its button, within the panel.
   */
  export function place(
    popup: HTMLElement,
    button: HTMLElement,
    panel: HTMLElement
  ): void {
    const bounds = panel.getBoundingClientRect();
    const anchor = button.getBoundingClientRect();
    const above = anchor.top - bounds.top - GAP - MARGIN;
    const below = bounds.bottom - anchor.bottom - GAP - MARGIN;
    const isAbove = above >= below;
    const { style } = popup;
    const width = Math.min(WIDEST, bounds.width - 2 * MARGIN);
    style.width = `${width}px`;
    style.maxHeight = `${Math.max(80, isAbove ? above : below)}px`;
    // Lumino contains layouts, so that coordinates may count from the panel. It
    // hangs at the button by the edge next to it, whatever comes into it later.
    style.left = '0';
    style.top = isAbove ? 'auto' : '0';
    style.bottom = isAbove ? '0' : 'auto';
    const origin = popup.getBoundingClientRect();
    const left = Math.min(
      Math.max(anchor.left, bounds.left + MARGIN),
      bounds.right - width - MARGIN
    );
    style.left = `${left - origin.left}px`;
    if (isAbove) {
      style.bottom = `${origin.bottom - anchor.top + GAP}px`;
    } else {
      style.top = `${anchor.bottom + GAP - origin.top}px`;
    }
  }
}
