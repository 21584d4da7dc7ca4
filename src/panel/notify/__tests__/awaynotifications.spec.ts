import { Notification as LabNotification } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';

import type { GlobalSettings, OpenTask } from '../../../generated/wire';
import {
  ask,
  created,
  settings,
  updated,
  waiting
} from '../../asks/__tests__/openedask';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { notifyWhileAway } from '../awaynotifications';

const TITLE = 'JupyterLab';
const OTHER_TITLE = 'work.ipynb';
const CLEAN = 'Clean the data';

/** The operating system's notifications. */
class SystemNotification {
  static permission: NotificationPermission = 'default';
  static requestPermission = jest.fn();
  static shown: string[] = [];

  constructor(
    _: string,
    private readonly _options: { body: string }
  ) {
    SystemNotification.shown.push(_options.body);
  }

  onclick: (() => void) | null = null;

  close(): void {
    SystemNotification.shown = SystemNotification.shown.filter(
      body => body !== this._options.body
    );
  }
}

/** The browser's sounds. */
class Audio {
  static played: { volume: number; pitches: number[] }[] = [];

  readonly state = 'running';
  readonly currentTime = 0;
  readonly destination = {};
  readonly close = () => {
    Audio.played.push({ volume: this._gain.value, pitches: this._pitches });
    return Promise.resolve();
  };
  readonly createGain = () => ({ gain: this._gain, connect: jest.fn() });
  readonly createOscillator = () => {
    const frequency = { value: 0 };
    return {
      frequency,
      connect: jest.fn(),
      start: () => this._pitches.push(frequency.value),
      stop: jest.fn(),
      addEventListener: (_: string, resolve: () => void) => resolve()
    };
  };

  private readonly _gain = { value: 1 };
  private readonly _pitches: number[] = [];
}

describe('watchWhileAway', () => {
  let page: OpenedPanel;
  let watch: IDisposable;

  beforeEach(() => {
    document.title = TITLE;
    page = new OpenedPanel();
    SystemNotification.permission = 'default';
    SystemNotification.shown = [];
    SystemNotification.requestPermission.mockClear();
    Audio.played = [];
    define(globalThis, 'Notification', SystemNotification);
    define(globalThis, 'AudioContext', Audio);
    watch = notifyWhileAway(page.panel.services);
  });

  afterEach(() => {
    watch.dispose();
    page.dispose();
    LabNotification.dismiss();
    Reflect.deleteProperty(document, 'hidden');
    Reflect.deleteProperty(globalThis, 'Notification');
    Reflect.deleteProperty(globalThis, 'AudioContext');
  });

  const define = (target: object, name: string, value: unknown) =>
    Object.defineProperty(target, name, { value, configurable: true });
  const leave = (isAway = true) => {
    define(document, 'hidden', isAway);
    page.act(() => {
      document.dispatchEvent(new Event('visibilitychange'));
    });
  };
  const task = (change: Partial<OpenTask> = {}): OpenTask => ({
    taskId: 'o',
    title: CLEAN,
    status: 'running',
    needsYou: false,
    ...change
  });
  const begin = (change: Partial<GlobalSettings> = {}) =>
    page.begin(
      waiting([ask(1, 'command', 'ls', { isAnswered: true })], {
        currentTaskStatus: 'running',
        openTasks: [task()],
        settings: settings(change)
      })
    );
  const become = (change: Partial<OpenTask>) =>
    page.publish({ type: 'openTasksUpdated', openTasks: [task(change)] });
  const icons = () => [...document.head.querySelectorAll('link[rel="icon"]')];
  const offers = () => LabNotification.manager.notifications;

  it('should tell in the tab that an agent waits, until one comes or answers', () => {
    begin();
    leave();
    become({ needsYou: true, status: 'interactive' });
    expect(document.title).toBe('(1) JupyterLab');
    expect(icons()).toHaveLength(1);
    become({});
    expect(document.title).toBe(TITLE);
    expect(icons()).toEqual([]);
    become({ needsYou: true, status: 'interactive' });
    leave(false);
    expect(document.title).toBe(TITLE);
    expect(icons()).toEqual([]);
  });

  it('should tell in the tab that an agent is done', () => {
    begin();
    leave();
    become({ status: 'idle' });
    expect(document.title).toBe('(1) JupyterLab');
  });

  it('should tell of the conversation on screen, which the list does not name', () => {
    begin();
    leave();
    page.publish(created(ask(2, 'command', 'rm x')), {
      type: 'taskProgress',
      taskId: 't',
      status: 'interactive',
      todos: [],
      messageQueue: [],
      tokenUsage: {
        totalTokensIn: 0,
        totalTokensOut: 0,
        totalCost: 0,
        contextTokens: 0
      }
    });
    expect(document.title).toBe('(1) JupyterLab');
    page.publish(updated(ask(2, 'command', 'rm x', { isAnswered: true })));
    expect(document.title).toBe(TITLE);
  });

  it('should keep the number when Lab changes the title', async () => {
    begin();
    leave();
    become({ status: 'idle' });
    await page.settle(() => {
      document.title = OTHER_TITLE;
    });
    expect(document.title).toBe('(1) work.ipynb');
    leave(false);
    expect(document.title).toBe('work.ipynb');
  });

  it('should disturb nobody who is there, nor tell what was so before', () => {
    page.begin(
      waiting([ask(1, 'command', 'ls')], {
        openTasks: [task({ needsYou: true })],
        settings: settings({ soundEnabled: true, soundVolume: 0.5 })
      })
    );
    expect(document.title).toBe(TITLE);
    expect(Audio.played).toEqual([]);
    begin();
    become({ status: 'idle' });
    expect(document.title).toBe(TITLE);
  });

  it('should tell by the system that the agent is done or failed, if it may', () => {
    begin();
    leave();
    become({ status: 'idle' });
    expect(SystemNotification.shown).toEqual([]);
    SystemNotification.permission = 'granted';
    become({});
    become({ status: 'idle' });
    expect(SystemNotification.shown).toEqual([
      'HDSP Agent is done with “Clean the data”.'
    ]);
    const title = 'Clean the data.';
    become({ title });
    become({ title, status: 'idle', failed: true });
    expect(SystemNotification.shown).toEqual([
      'HDSP Agent was stopped by an error in “Clean the data”.'
    ]);
    leave(false);
    expect(SystemNotification.shown).toEqual([]);
  });

  it('should not call done what a person paused', () => {
    begin();
    leave();
    become({ status: 'resumable' });
    expect(document.title).toBe(TITLE);
  });

  describe('permission', () => {
    const choose = (index: number) =>
      page.act(() =>
        offers()[0]?.options.actions?.[index]?.callback(new MouseEvent('click'))
      );

    it('should be asked of who missed something, once and by a click', () => {
      begin();
      leave();
      leave(false);
      expect(offers()).toEqual([]);
      leave();
      become({ status: 'idle' });
      expect(offers()).toEqual([]);
      leave(false);
      expect(offers()).toHaveLength(1);
      expect(SystemNotification.requestPermission).not.toHaveBeenCalled();
      choose(0);
      expect(SystemNotification.requestPermission).toHaveBeenCalledTimes(1);
      LabNotification.dismiss();
      leave();
      become({});
      become({ status: 'idle' });
      leave(false);
      expect(offers()).toEqual([]);
    });

    it('should not be asked again of who does not want it', async () => {
      begin({ dismissedHints: ['other'] });
      leave();
      become({ status: 'idle' });
      leave(false);
      choose(1);
      expect(page.sent('updateSettings')).toMatchObject([
        {
          updatedSettings: { dismissedHints: ['other', 'systemNotifications'] }
        }
      ]);
      await page.settle(() => page.answer('updateSettings'));
    });

    it.each([
      ['was asked before', [], 'denied'],
      ['said no', ['systemNotifications'], 'default']
    ] as const)('should not be asked of who %s', (_, hints, permission) => {
      SystemNotification.permission = permission;
      begin({ dismissedHints: [...hints] });
      leave();
      become({ status: 'idle' });
      leave(false);
      expect(offers()).toEqual([]);
    });
  });

  describe('sounds', () => {
    it('should be played when they are on, as loud as is set', async () => {
      begin({ soundEnabled: true, soundVolume: 0.25 });
      await page.settle(() => become({ needsYou: true }));
      await page.settle(() => become({ status: 'idle' }));
      expect(Audio.played).toEqual([
        { volume: 0.25, pitches: [660, 880] },
        { volume: 0.25, pitches: [880, 660] }
      ]);
    });

    it('should not be played when they are off', async () => {
      begin({ soundEnabled: false, soundVolume: 1 });
      await page.settle(() => become({ needsYou: true }));
      expect(Audio.played).toEqual([]);
    });

    it('should be played by one of several tabs', async () => {
      const asked: string[] = [];
      define(navigator, 'locks', {
        request: (
          name: string,
          _: object,
          work: (lock: object | null) => Promise<void>
        ) => {
          asked.push(name);
          return work(null);
        }
      });
      begin({ soundEnabled: true, soundVolume: 1 });
      await page.settle(() => become({ needsYou: true }));
      Reflect.deleteProperty(navigator, 'locks');
      expect(asked).toEqual(['hdsp-agent:sound:o']);
      expect(Audio.played).toEqual([]);
    });
  });

  it('should end without a trace', () => {
    begin();
    leave();
    become({ status: 'idle' });
    watch.dispose();
    expect(document.title).toBe(TITLE);
    expect(icons()).toEqual([]);
  });
});
