import type { FolderTrustView } from '../../generated/rest';
import { RestServer, refusal } from '../history/__tests__/restserver';
import { OpenedPanel } from './openedpanel';

const ASK = 'GET folder-trust';
const DECIDE = 'PUT folder-trust';

function aFolder(change: Partial<FolderTrustView> = {}): FolderTrustView {
  return {
    folder: '/home/ada/work',
    verdict: 'undecided',
    brings: [
      { kind: 'mode', name: 'Acme', path: '.hdspmodes' },
      { kind: 'mode', name: 'Review', path: '.hdspmodes' },
      { kind: 'rules', name: '.roo/rules/a.md', path: '.roo/rules/a.md' },
      { kind: 'instructions', name: 'AGENTS.md', path: 'AGENTS.md' },
      { kind: 'command', name: '/plot', path: '.hdsp/commands/plot.md' }
    ],
    ...change
  };
}

describe('FolderQuestion', () => {
  let rest: RestServer;
  let panel: OpenedPanel;
  let folder: FolderTrustView;

  beforeEach(() => {
    rest = new RestServer();
    folder = aFolder();
    rest.answers.set(ASK, () => folder);
    rest.answers.set(DECIDE, ({ body }) => {
      const { trusted } = body as { trusted: boolean };
      folder = aFolder({ verdict: trusted ? 'trusted' : 'notTrusted' });
      return folder;
    });
    panel = new OpenedPanel();
  });

  afterEach(() => {
    panel.dispose();
    rest.dispose();
  });

  const question = () => panel.find('.jp-hdspAgent-folderTrust');

  async function begin(state: object = {}): Promise<void> {
    panel.begin(state);
    await panel.settle();
  }
  const review = () => panel.act(() => panel.button('Review').click());

  it('should list what the folder brings, and leave one free to write', async () => {
    await begin({ canStartTasks: true });
    expect(question()?.textContent).toContain('/home/ada/work contains');
    review();
    const lines = panel.findAll('.jp-hdspAgent-folderTrust li');
    expect(lines.map(({ textContent }) => textContent)).toEqual([
      '2 modes: Acme, Review',
      '1 rules file: .roo/rules/a.md',
      '1 instructions file: AGENTS.md',
      '1 slash command: /plot'
    ]);
    expect(panel.find('.jp-hdspAgent-composer-field')).not.toBeNull();
    expect(rest.of(DECIDE)).toEqual([]);
  });

  it.each([
    ['Trust this folder', true],
    ["Don't use them", false]
  ])('should take “%s” for an answer once', async (label, trusted) => {
    await begin({ canStartTasks: true });
    review();
    const button = panel.button(label);
    await panel.settle(() => {
      button.focus();
      button.click();
      button.click();
    });
    expect(rest.of(DECIDE).map(({ body }) => body)).toEqual([
      { folder: '/home/ada/work', trusted }
    ]);
    expect(question()).toBeNull();
    expect(document.activeElement).toBe(
      panel.find('.jp-hdspAgent-composer-field')
    );
  });

  it.each([
    aFolder({ brings: [] }),
    aFolder({ verdict: 'trusted' }),
    aFolder({ verdict: 'notTrusted', decidedBy: 'operator' })
  ])('should ask nothing where nothing is to be decided', async known => {
    folder = known;
    await begin();
    expect(rest.of(ASK)).toHaveLength(1);
    expect(question()).toBeNull();
  });

  it('should go when it is answered on another page, and come back when it is asked anew', async () => {
    await begin();
    expect(question()).not.toBeNull();
    const change = {
      type: 'folderTrustUpdated' as const,
      folder: folder.folder
    };
    folder = aFolder({ verdict: 'trusted' });
    panel.publish(change);
    await panel.settle();
    expect(question()).toBeNull();
    folder = aFolder();
    panel.publish(change);
    await panel.settle();
    expect(question()).not.toBeNull();
  });

  it('should have the modes read anew where trust has changed', async () => {
    await begin({ canStartTasks: true });
    const before = panel.sent('requestModes').length;
    panel.publish({ type: 'folderTrustUpdated', folder: '/home/ada/work' });
    await panel.settle();
    expect(panel.sent('requestModes').length).toBe(before + 1);
  });

  it('should ask about the folder of the conversation on screen', async () => {
    await begin({ currentTaskId: 'task-1', clineMessages: [] });
    expect(rest.of(ASK).at(-1)?.query).toEqual({ task: 'task-1' });
  });

  it('should be put away until the folder brings something else', async () => {
    await begin({ canStartTasks: true });
    panel.act(() => panel.dismissal().click());
    expect(question()).toBeNull();
    expect(rest.of(DECIDE)).toEqual([]);
    const update = () =>
      panel.settle(() =>
        panel.publish({ type: 'folderTrustUpdated', folder: folder.folder })
      );
    await update();
    expect(question()).toBeNull();
    folder = aFolder({ brings: folder.brings.slice(1) });
    await update();
    expect(question()).not.toBeNull();
  });

  it('should say why a decision was refused, and keep asking', async () => {
    await begin();
    review();
    rest.answers.set(DECIDE, () =>
      refusal('forbidden_by_operator', 'No.', 403)
    );
    await panel.settle(() => panel.button('Trust this folder').click());
    expect(question()?.querySelector('[role="alert"]')?.textContent).toMatch(
      /administrator|No\./
    );
    expect(panel.button('Trust this folder').disabled).toBe(false);
  });

  it('should stay quiet where the server cannot say, and ask again later', async () => {
    rest.answers.delete(ASK);
    await begin();
    expect(question()).toBeNull();
    rest.answers.set(ASK, () => folder);
    panel.publish({ type: 'state', state: {} });
    await panel.settle();
    expect(question()).not.toBeNull();
  });
});
