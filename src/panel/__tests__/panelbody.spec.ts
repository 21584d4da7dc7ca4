import type { GlobalSettings } from '../../generated/wire';
import { FirstRun } from '../firstrun/firstrun';
import { OpenedPanel } from './openedpanel';

jest.mock('../firstrun/firstrun', () => ({ FirstRun: jest.fn(() => null) }));

describe('PanelBody', () => {
  it('should not draw its parts again for what is theirs to follow', () => {
    const page = new OpenedPanel();
    page.begin({ canStartTasks: true });
    const drawn = jest.mocked(FirstRun).mock.calls.length;
    expect(drawn).toBeGreaterThan(0);
    page.publish({
      type: 'settingsUpdated',
      settings: { mode: 'ask' } as GlobalSettings,
      fixed: []
    });
    page.publish({ type: 'openTasksUpdated', openTasks: [] });
    expect(jest.mocked(FirstRun).mock.calls).toHaveLength(drawn);
    page.dispose();
  });
});
