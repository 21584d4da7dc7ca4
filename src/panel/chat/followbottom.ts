import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { Listener } from '../../listener';

/**
 * How near to the end, in pixels, counts as being there.
 */
const NEAR = 4;

/**
 * How far, in pixels, the browser may have gone up without anybody scrolling:
 * a row that shrinks and grows again between two frames takes it along.
 */
const LITTLE = 40;

/**
 * For so many milliseconds after a person did something, what scrolls is taken
 * for their doing: browsers scroll smoothly, and to what has the focus.
 */
const PERSONS_FOR = 500;

/**
 * The button of a mouse that scrolls by itself until it is pressed again.
 */
const MIDDLE_BUTTON = 1;

const KEYS_UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);

/**
 * Keeps a box scrolled to its end while it grows, and lets go as soon as the
 * person does something of their own there.
 *
 * #### Notes
 * It lets go when one scrolls up, whatever with, when text is selected, and
 * when something is expanded, and waits while the pointer is down. It follows
 * again when one comes back to the end.
 */
export class FollowBottom extends Listener {
  /**
   * @param box - What scrolls.
   * @param content - What grows in it.
   */
  constructor(box: HTMLElement, content: HTMLElement) {
    super();
    this._box = box;
    this._sizes = new ResizeObserver(() => this.update());
    this._sizes.observe(box);
    this._sizes.observe(content);
    for (const type of BOX_EVENTS) {
      box.addEventListener(type, this, { capture: true, passive: true });
    }
    for (const type of DOCUMENT_EVENTS) {
      box.ownerDocument.addEventListener(type, this, { passive: true });
    }
  }

  /**
   * Emitted when it begins or ends to follow, or when the end comes into sight
   * or leaves it.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether it keeps to the end.
   */
  get isFollowing(): boolean {
    return this._isFollowing;
  }

  /**
   * Whether the end is in sight.
   */
  get isAtEnd(): boolean {
    return this._isAtEnd;
  }

  protected override release(): void {
    this._sizes.disconnect();
    for (const type of BOX_EVENTS) {
      this._box.removeEventListener(type, this, { capture: true });
    }
    for (const type of DOCUMENT_EVENTS) {
      this._box.ownerDocument.removeEventListener(type, this);
    }
  }

  /**
   * Go to the end, and stay there.
   */
  follow(): void {
    this._isLeaving = false;
    this._set(true);
    this.update();
  }

  /**
   * Stay where one is.
   */
  letGo(): void {
    this._set(false);
  }

  /**
   * Let go, to be brought to another place.
   *
   * #### Notes
   * Rows that are put before the others on the way scroll the box, which may be
   * at its end still: nobody came back to it.
   */
  leave(): void {
    this._isLeaving = true;
    this._set(false);
  }

  /**
   * Stay at the place one was brought to.
   */
  arrive(): void {
    if (this._isLeaving) {
      this._isLeaving = false;
      if (!this._isHidden && this._gap <= NEAR) {
        this._set(!this._hasSelection);
      }
    }
  }

  /**
   * Do what follows from the sizes as they are now.
   */
  update(): void {
    if (this._isHidden) {
      this._wasHidden = true;
      return;
    }
    if (this._wasHidden) {
      this._wasHidden = false;
      if (!this._isFollowing) {
        // Not every browser brings it back to where it was.
        this._box.scrollTop = this._top;
      }
    }
    if (this._isFollowing && !this._isHeld) {
      this._box.scrollTop = this._box.scrollHeight;
      this._note();
    } else if (this._expanded && this._gap <= NEAR) {
      // What was expanded fits: nothing was lost out of sight.
      this._set(true);
    }
    this._expanded = false;
    this._setAtEnd(this._gap <= NEAR);
  }

  /**
   * See what the person does.
   */
  handleEvent(event: Event): void {
    if (SCROLLERS.has(event.type)) {
      this._lastDone = performance.now();
    }
    switch (event.type) {
      case 'wheel':
        if ((event as WheelEvent).deltaY < 0) {
          this._up();
        }
        break;
      case 'keydown': {
        const { key, shiftKey } = event as KeyboardEvent;
        if (KEYS_UP.has(key) || (key === ' ' && shiftKey)) {
          this._up();
        }
        break;
      }
      case 'pointerdown':
        // It may be the scroll bar, or the beginning of a selection.
        this._isHeld = true;
        this._scrollsItself = (event as PointerEvent).button === MIDDLE_BUTTON;
        break;
      case 'touchstart':
        this._isTouched = true;
        break;
      case 'touchend':
      case 'touchcancel':
        this._isTouched = false;
        break;
      case 'pointerup':
      case 'pointercancel':
        this._isHeld = false;
        this.update();
        break;
      case 'click':
        this._onClick(event);
        break;
      case 'selectionchange':
        if (this._hasSelection) {
          this.letGo();
        }
        break;
      case 'scroll':
        if (event.target === this._box && this._isHidden) {
          // What is hidden is at 0, of which browsers tell, and back in its
          // place when it is shown, of which they do not: Lab hides all of it
          // when it puts on a theme. The list would draw the wrong rows.
          event.stopImmediatePropagation();
        } else if (event.target === this._box) {
          this._onScroll();
        }
        break;
    }
  }

  private _onClick({ target }: Event): void {
    if (
      target instanceof Element &&
      target.closest('summary, [aria-expanded]')
    ) {
      this._expanded = this._isFollowing;
      this.letGo();
    }
  }

  private _onScroll(): void {
    // Where the content shrank, the browser itself goes up: nobody scrolled.
    const wentUp =
      this._box.scrollTop < this._top - 1 &&
      this._box.scrollHeight === this._height;
    this._note();
    const isAtEnd = this._gap <= NEAR;
    if (isAtEnd && wentUp) {
      // The beginning of a smooth scroll: nobody came back.
    } else if (isAtEnd) {
      this._set(!this._hasSelection && !this._isLeaving);
    } else if (wentUp && this._isFollowing && this._isLayout) {
      this.update();
      return;
    } else if (wentUp) {
      this.letGo();
    }
    this._setAtEnd(isAtEnd);
  }

  /**
   * Whether nobody scrolled, as far as that is known.
   */
  private get _isLayout(): boolean {
    const isDoing =
      this._isHeld ||
      this._isTouched ||
      this._scrollsItself ||
      performance.now() - this._lastDone < PERSONS_FOR;
    return !isDoing && this._gap <= LITTLE;
  }

  private _note(): void {
    this._top = this._box.scrollTop;
    this._height = this._box.scrollHeight;
  }

  private _up(): void {
    // Where all is in sight there is nowhere to go.
    if (this._box.scrollTop > 0) {
      this.letGo();
    }
  }

  /**
   * Whether it is not laid out, on its own or with all of the panel.
   */
  private get _isHidden(): boolean {
    return this._box.clientHeight === 0 && this._box.scrollHeight === 0;
  }

  private get _gap(): number {
    const { scrollHeight, scrollTop, clientHeight } = this._box;
    return scrollHeight - scrollTop - clientHeight;
  }

  private get _hasSelection(): boolean {
    const selection = this._box.ownerDocument.getSelection();
    return (
      !!selection &&
      !selection.isCollapsed &&
      this._box.contains(selection.anchorNode)
    );
  }

  private _set(isFollowing: boolean): void {
    if (isFollowing !== this._isFollowing) {
      this._isFollowing = isFollowing;
      this._changed.emit();
    }
  }

  private _setAtEnd(isAtEnd: boolean): void {
    if (isAtEnd !== this._isAtEnd) {
      this._isAtEnd = isAtEnd;
      this._changed.emit();
    }
  }

  private readonly _box: HTMLElement;
  private readonly _sizes: ResizeObserver;
  private readonly _changed = new Signal<this, void>(this);
  private _isFollowing = true;
  private _isAtEnd = true;
  private _isLeaving = false;
  private _isHeld = false;
  private _isTouched = false;
  private _scrollsItself = false;
  private _lastDone = -Infinity;
  private _wasHidden = false;
  private _expanded = false;
  private _top = 0;
  private _height = 0;
}

/**
 * After which events browsers scroll.
 */
const SCROLLERS: ReadonlySet<string> = new Set([
  'wheel',
  'keydown',
  'pointerdown',
  'touchstart',
  'focusin'
]);

const BOX_EVENTS = [
  'wheel',
  'keydown',
  'pointerdown',
  'touchstart',
  'focusin',
  'click',
  'scroll'
];
const DOCUMENT_EVENTS = [
  'pointerup',
  'pointercancel',
  'touchend',
  'touchcancel',
  'selectionchange'
];
