import { DismissedNotices } from '../dismissednotices';

const KEY = 'dismissed';

describe('DismissedNotices', () => {
  const open = () => new DismissedNotices(sessionStorage, KEY);

  beforeEach(() => {
    sessionStorage.clear();
  });

  it('should know what was put away until it says something else', () => {
    const dismissed = new DismissedNotices();
    const heard = jest.fn();
    dismissed.changed.connect(heard);
    expect(dismissed.has('keys', 'locked')).toBe(false);
    dismissed.add('keys', 'locked');
    expect(dismissed.has('keys', 'locked')).toBe(true);
    expect(dismissed.has('keys', 'missing')).toBe(false);
    expect(dismissed.has('folder', 'locked')).toBe(false);
    dismissed.forget('keys');
    expect(dismissed.has('keys', 'locked')).toBe(false);
    dismissed.forget('keys');
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it('should know it after a reload', () => {
    open().add('keys', 'locked');
    expect(open().has('keys', 'locked')).toBe(true);
    open().forget('keys');
    expect(open().has('keys', 'locked')).toBe(false);
  });

  it.each(['no JSON', '{"keys":"locked"}', '[1, ["keys"], ["keys", 2]]'])(
    'should not trust what it finds: %s',
    text => {
      sessionStorage.setItem(KEY, text);
      expect(open().has('keys', 'locked')).toBe(false);
    }
  );

  it('should work where nothing can be stored', () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    const dismissed = new DismissedNotices(
      {
        getItem: () => null,
        setItem: () => {
          throw new Error('full');
        }
      },
      KEY
    );
    dismissed.add('keys', 'locked');
    expect(dismissed.has('keys', 'locked')).toBe(true);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});
