import { Notification } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';

import type { BroughtView, TrustedFoldersView } from '../../generated/rest';
import { RestServer, refusal } from '../../panel/history/__tests__/restserver';
import { SettingsApi } from '../../rest/settingsapi';
import { folderContentLines } from '../foldertexts';
import type { IConfirmation } from '../../ui/dialogs';
import { decideAboutFolder } from '../foldercommands';
import { TrustedFoldersData } from '../../rest/foldertrustdata';

const trans = nullTranslator.load('hdsp_agent');
const BRINGS: BroughtView[] = [
  { kind: 'instructions', name: 'AGENTS.md', path: 'AGENTS.md' }
];

describe('trusted folders', () => {
  let rest: RestServer;
  let list: TrustedFoldersView;
  const serverSettings = ServerConnection.makeSettings();

  beforeEach(() => {
    rest = new RestServer();
    const decidedAt = '2026-01-01T00:00:00+00:00';
    list = {
      folders: [
        { folder: '/a', trusted: true, decidedAt },
        { folder: '/b', trusted: false, decidedAt }
      ],
      workspaceTrust: 'ask',
      operators: []
    };
    rest.answers.set('GET trusted-folders', () => list);
    rest.answers.set('GET folder-trust', () => ({
      folder: '/work',
      verdict: 'undecided',
      brings: BRINGS
    }));
    rest.answers.set('PUT folder-trust', ({ body }) => {
      const { folder } = body as { folder: string };
      list = {
        ...list,
        folders: list.folders.filter(one => one.folder !== folder)
      };
      return { folder, verdict: 'undecided', brings: [] };
    });
  });

  afterEach(() => rest.dispose());

  it('should be taken off the list, and stay on it where that is refused', async () => {
    const data = new TrustedFoldersData(new SettingsApi(serverSettings));
    await data.refresh();
    expect(await data.forget('/a')).toBe(true);
    expect(rest.of('PUT folder-trust')[0].body).toEqual({
      folder: '/a',
      trusted: null
    });
    expect(data.value?.folders.map(({ folder }) => folder)).toEqual(['/b']);
    rest.answers.set('PUT folder-trust', () => refusal('storage', 'Full.'));
    expect(await data.forget('/b')).toBe(false);
    expect(data.value?.folders).toHaveLength(1);
    expect(data.error?.message).toBe('Full.');
    data.dispose();
  });

  it('should be trusted by a command only after one has seen what they bring', async () => {
    const said = jest.spyOn(Notification, 'success').mockReturnValue('');
    const asked: IConfirmation[] = [];
    let sure = false;
    const dialogs = {
      confirm: (question: IConfirmation) => {
        asked.push(question);
        return Promise.resolve(sure);
      },
      askName: () => Promise.resolve(null)
    };
    const decide = (trusted: boolean) =>
      decideAboutFolder({ serverSettings, trans, dialogs }, trusted);
    await decide(true);
    expect(asked[0].body).toContain('/work');
    expect(asked[0].body).toContain('1 instructions file: AGENTS.md');
    expect(rest.of('PUT folder-trust')).toEqual([]);
    sure = true;
    await decide(true);
    await decide(false);
    expect(asked).toHaveLength(2);
    expect(rest.of('PUT folder-trust').map(({ body }) => body)).toEqual([
      { folder: '/work', trusted: true },
      { folder: '/work', trusted: false }
    ]);
    expect(said).toHaveBeenCalledTimes(2);
    const refused = jest.spyOn(Notification, 'error').mockReturnValue('');
    rest.answers.set('PUT folder-trust', () => refusal('odd', 'Not here.'));
    await decide(false);
    expect(refused).toHaveBeenCalledWith('Not here.');
    said.mockRestore();
    refused.mockRestore();
  });

  it('should be described by kind, with an end to many names', () => {
    const many = Array.from({ length: 15 }, (_, index) => ({
      kind: 'rules' as const,
      name: `r${index}`,
      path: `r${index}`
    }));
    const [rules, files] = folderContentLines(trans, [...BRINGS, ...many]);
    expect(rules).toMatch(/^15 rules files: r0, .*r11 and 3 more$/);
    expect(files).toBe('1 instructions file: AGENTS.md');
  });
});
