import { FollowBottom } from '../followbottom';

/**
 * A box with sizes, which jsdom has none of.
 */
class Box {
  constructor() {
    const define = (name: string, get: () => number) =>
      Object.defineProperty(this.node, name, { configurable: true, get });
    define('scrollHeight', () => (this.isHidden ? 0 : this.height));
    define('clientHeight', () => (this.isHidden ? 0 : 100));
    Object.defineProperty(this.node, 'scrollTop', {
      get: () => (this.isHidden ? 0 : this.top),
      set: (top: number) => {
        this.top = Math.max(0, Math.min(top, this.height - 100));
      }
    });
    this.node.append(this.content);
    document.body.append(this.node);
  }

  readonly node = document.createElement('div');
  readonly content = document.createElement('div');
  height = 1_000;
  top = 0;
  isHidden = false;

  /** The person scrolls to here, whatever with. */
  scrollTo(top: number): void {
    this.node.scrollTop = top;
    this.node.dispatchEvent(new Event('scroll'));
  }
}

describe('FollowBottom', () => {
  let box: Box;
  let follow: FollowBottom;

  beforeEach(() => {
    box = new Box();
    follow = new FollowBottom(box.node, box.content);
    follow.update();
  });

  afterEach(() => {
    follow.dispose();
    box.node.remove();
    document.getSelection()?.removeAllRanges();
  });

  function grow(height = box.height + 200): void {
    box.height = height;
    follow.update();
  }

  it('should keep to the end while it grows', () => {
    expect(box.top).toBe(900);
    grow();
    expect(box.top).toBe(1_100);
  });

  it.each([
    ['the wheel', () => new WheelEvent('wheel', { deltaY: -10 })],
    ['Page Up', () => new KeyboardEvent('keydown', { key: 'PageUp' })],
    ['an arrow', () => new KeyboardEvent('keydown', { key: 'ArrowUp' })],
    ['Home', () => new KeyboardEvent('keydown', { key: 'Home' })]
  ])('should let go when one goes up with %s', (_, event) => {
    box.node.dispatchEvent(event());
    grow();
    expect(box.top).toBe(900);
    expect(follow.isFollowing).toBe(false);
  });

  it('should let go when one scrolls up with anything else', () => {
    box.scrollTo(500);
    grow();
    expect(box.top).toBe(500);
  });

  it('should not come back by rows that scroll it on the way to a place', () => {
    follow.leave();
    box.height = 3_000;
    box.scrollTo(2_900);
    expect(follow.isFollowing).toBe(false);
    box.scrollTo(0);
    follow.arrive();
    expect(follow.isFollowing).toBe(false);
    box.scrollTo(2_900);
    expect(follow.isFollowing).toBe(true);
  });

  it('should follow on from a place that is the end', () => {
    follow.leave();
    follow.arrive();
    expect(follow.isFollowing).toBe(true);
  });

  it('should not take a shrinking content for a person', () => {
    box.height = 700;
    box.scrollTo(600);
    box.height = 950;
    box.node.dispatchEvent(new Event('scroll'));
    expect(follow.isFollowing).toBe(true);
    box.height = 800;
    box.top = 650;
    box.node.dispatchEvent(new Event('scroll'));
    expect(follow.isFollowing).toBe(true);
    follow.update();
    expect(box.top).toBe(700);
  });

  it('should not take a row that shrank and grew again for a person', () => {
    box.scrollTo(894);
    expect(follow.isFollowing).toBe(true);
    expect(box.top).toBe(900);
    expect(follow.isAtEnd).toBe(true);
  });

  it('should let go of a little, too, where a finger or the pointer scrolls', () => {
    box.node.dispatchEvent(new Event('touchstart'));
    box.scrollTo(894);
    expect(follow.isFollowing).toBe(false);
    expect(box.top).toBe(894);
    document.dispatchEvent(new Event('touchend'));
    follow.follow();
    box.node.dispatchEvent(new Event('pointerdown'));
    box.scrollTo(894);
    document.dispatchEvent(new Event('pointerup'));
    expect(follow.isFollowing).toBe(false);
    expect(box.top).toBe(894);
  });

  it.each([
    ['the wheel', new WheelEvent('wheel', { deltaY: -10 })],
    ['a key', new KeyboardEvent('keydown', { key: 'Tab' })],
    ['the focus', new Event('focusin')]
  ])('should not fight a smooth scroll that %s began', (_, event) => {
    box.node.dispatchEvent(event);
    // Its first frame is at the end still.
    box.scrollTo(898);
    box.scrollTo(880);
    expect(follow.isFollowing).toBe(false);
    expect(box.top).toBe(880);
  });

  it('should not fight what scrolls by itself since the middle button', () => {
    const now = jest.spyOn(performance, 'now');
    box.node.dispatchEvent(new MouseEvent('pointerdown', { button: 1 }));
    document.dispatchEvent(new Event('pointerup'));
    now.mockReturnValue(performance.now() + 10_000);
    box.scrollTo(880);
    expect(follow.isFollowing).toBe(false);
    expect(box.top).toBe(880);
    now.mockRestore();
  });

  it('should wait while the pointer is down, on text or the scroll bar', () => {
    box.node.dispatchEvent(new Event('pointerdown'));
    grow();
    expect(box.top).toBe(900);
    document.dispatchEvent(new Event('pointerup'));
    expect(box.top).toBe(1_100);
  });

  it('should let go of text that is selected, and stay so at the end', () => {
    box.content.append('words');
    document.getSelection()?.selectAllChildren(box.content);
    document.dispatchEvent(new Event('selectionchange'));
    grow();
    expect(box.top).toBe(900);
    box.scrollTo(box.height - 100);
    expect(follow.isFollowing).toBe(false);
  });

  it('should let go when something is expanded, unless it fits', () => {
    const button = document.createElement('button');
    button.setAttribute('aria-expanded', 'false');
    box.content.append(button);
    button.click();
    grow();
    expect(box.top).toBe(900);
    expect(follow.isFollowing).toBe(false);
    follow.follow();
    button.click();
    follow.update();
    expect(follow.isFollowing).toBe(true);
  });

  it('should not let go where there is nowhere to go', () => {
    box.height = 80;
    box.top = 0;
    follow.update();
    box.node.dispatchEvent(new WheelEvent('wheel', { deltaY: -10 }));
    grow(500);
    expect(box.top).toBe(400);
  });

  it('should follow again when one comes back, and tell of it', () => {
    const told: boolean[] = [];
    follow.changed.connect(() => told.push(follow.isFollowing));
    box.scrollTo(100);
    expect(follow.isAtEnd).toBe(false);
    box.scrollTo(900);
    expect(follow.isAtEnd).toBe(true);
    grow();
    expect(box.top).toBe(1_100);
    expect(told[0]).toBe(false);
    expect(told.at(-1)).toBe(true);
  });

  it('should keep what a hidden box tells of its place from everybody', () => {
    const heard = jest.fn();
    box.node.addEventListener('scroll', heard);
    box.isHidden = true;
    box.node.dispatchEvent(new Event('scroll'));
    box.isHidden = false;
    expect(heard).not.toHaveBeenCalled();
    grow();
    expect(box.top).toBe(1_100);
    box.scrollTo(1_000);
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it('should be where one was when the box was hidden for a while', () => {
    box.scrollTo(300);
    box.isHidden = true;
    follow.update();
    box.isHidden = false;
    box.top = 0;
    follow.update();
    expect(box.top).toBe(300);
    expect(follow.isFollowing).toBe(false);
    expect(follow.isAtEnd).toBe(false);
  });
});
