import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, galata, test as galataTest } from '@jupyterlab/galata';
import type {
  ConsoleMessage,
  Locator,
  Page,
  WebSocketRoute
} from '@playwright/test';

import './timeouts';

import { AgentApi } from './agentapi';
import { collaboration, JupyterServer } from './server';
import type { Theme } from './appearance';
import { look, oursOn, THEMES } from './appearance';
import { IS_LONG } from './longtests';

export { expect } from '@jupyterlab/galata';

const PANEL_ID = 'hdsp-agent-panel';

/**
 * A page of JupyterLab with the agent in it, as a person sees it.
 */
export class Lab {
  constructor(
    readonly page: IJupyterLabPageFixture,
    readonly api: AgentApi,
    private readonly _path = '/lab'
  ) {
    page.on('pageerror', error => this.errors.push(String(error.stack)));
    page.on('console', message => {
      if (message.type() === 'error' && !isLabs(message)) {
        this.errors.push(message.text());
      }
    });
    page.on('request', request => {
      const { protocol, hostname } = new URL(request.url());
      if (/^(http|ws)s?:$/.test(protocol) && hostname !== '127.0.0.1') {
        this.errors.push(`The page asked ${hostname} for something.`);
      }
    });
  }

  /**
   * What went wrong in the page by its own account, and whom but the server it
   * asked for anything.
   */
  readonly errors: string[] = [];

  /**
   * The agent's panel.
   */
  get panel(): Locator {
    return this.page.getByRole('region', { name: 'HDSP Agent', exact: true });
  }

  /**
   * How a model is set up in an empty panel.
   */
  get setup(): Locator {
    return this.panel.getByRole('region', { name: 'Setting up a model' });
  }

  /**
   * The list of past conversations.
   */
  get history(): Locator {
    return this.panel.getByRole('region', { name: 'Past conversations' });
  }

  /**
   * What the panel says of the connection.
   */
  get banner(): Locator {
    return this.panel.getByRole('region', { name: 'Connection' });
  }

  /**
   * What is read aloud of the connection.
   */
  get announced(): Locator {
    return this.panel.getByRole('status').filter({ hasText: /^HDSP Agent: / });
  }

  /**
   * How a conversation is begun, once there is a model.
   */
  get greeting(): Locator {
    return this.panel.getByRole('region', {
      name: 'Start a conversation'
    });
  }

  /**
   * The tab with the agent's settings; its name is that in English.
   */
  get settings(): Locator {
    return this.page.getByRole('tabpanel', { name: 'HDSP Agent Settings' });
  }

  /**
   * Load the page from a server.
   */
  async visit(url: string = this.api.url): Promise<void> {
    await this.page.goto(`${url}${this._path}`);
    // It comes late, and takes the focus.
    await expect(this.page.locator('.jp-Launcher')).toBeVisible();
  }

  /**
   * Load the page again, and wait for what Lab opens: it comes late, and takes
   * the focus.
   */
  async reload(): Promise<void> {
    await this.page.reload();
    await expect(
      this.page
        .locator('#jp-main-dock-panel .lm-DockPanel-widget')
        .filter({ visible: true })
        .first()
    ).toBeVisible();
  }

  /**
   * Show the panel; there must be a connection.
   */
  async openPanel(): Promise<void> {
    await this.showPanel();
    await this.expectConnected();
  }

  /**
   * Show the panel, whatever it says.
   */
  async showPanel(): Promise<void> {
    await this.page.sidebar.openTab(PANEL_ID);
  }

  /**
   * Show a section of the settings.
   */
  async openSettings(section: string): Promise<void> {
    await this.execute('hdsp-agent:open-settings', { section });
    await expect(
      this.page.locator(`.jp-hdspSettings [data-section="${section}"]`)
    ).toBeVisible();
  }

  /**
   * Run a command.
   */
  async execute(
    id: string,
    args: Record<string, string | boolean> = {}
  ): Promise<void> {
    await this.page.evaluate(
      async ([id, args]) => {
        await window.galata.app.commands.execute(id, args);
      },
      [id, args] as const
    );
  }

  /**
   * Break the connections to the agent whenever the test wants it. To be called
   * before the page is loaded.
   */
  async holdTheLine(): Promise<ILine> {
    const sockets = new Set<WebSocketRoute>();
    let isCut = false;
    await this.page.routeWebSocket(/hdsp-agent\/comm/, socket => {
      if (isCut) {
        void socket.close();
        return;
      }
      socket.connectToServer();
      sockets.add(socket);
    });
    return {
      cut: async () => {
        isCut = true;
        await Promise.all([...sockets].map(socket => socket.close()));
        sockets.clear();
      },
      mend: () => {
        isCut = false;
      }
    };
  }

  /**
   * Begin another conversation.
   */
  async beginAnother(): Promise<void> {
    await this.panel
      .locator('.jp-hdspAgent-strip')
      .getByRole('button', { name: 'New conversation', exact: true })
      .click();
    await expect(this.greeting).toBeVisible();
  }

  async expectConnected(timeout?: number): Promise<void> {
    await expect(this.announced).toHaveText('HDSP Agent: Connected', {
      timeout
    });
  }

  /**
   * Wait until the page has found its server again, and not out the pauses
   * between its tries, which grow; the page's clock must be a test's.
   */
  async expectConnectedAgain(): Promise<void> {
    await expect(async () => {
      await this.page.clock.fastForward('00:30');
      await this.expectConnected(2_000);
    }).toPass({ timeout: 60_000 });
  }

  /**
   * Press Tab until an element has the focus.
   */
  async tabTo(
    element: Locator,
    key: 'Tab' | 'Shift+Tab' = 'Tab'
  ): Promise<void> {
    await expect(element).toBeVisible();
    for (let pressed = 0; pressed < 60; pressed++) {
      if (await element.evaluate(node => node === document.activeElement)) {
        return;
      }
      await this.page.keyboard.press(key);
    }
    await expect(element).toBeFocused();
  }

  /**
   * The texts of a conversation from its beginning to its end, as one reads
   * them who scrolls through it: only what is in sight is on the page.
   */
  async texts(): Promise<string[]> {
    return this.panel
      .getByRole('feed', { name: 'Conversation' })
      .evaluate(async box => {
        const shown = () =>
          new Promise(resolve =>
            requestAnimationFrame(() => requestAnimationFrame(resolve))
          );
        const texts = new Map<number, string>();
        for (let top = 0; ; top += box.clientHeight / 2) {
          box.scrollTop = top;
          await shown();
          for (const row of box.querySelectorAll('[aria-posinset]')) {
            const text = row.querySelector(
              '.jp-hdspAgent-user-text, .jp-hdspAgent-markdown'
            );
            texts.set(
              Number(row.getAttribute('aria-posinset')),
              (text?.textContent ?? '').trim()
            );
          }
          // How high all of it is, is known of what was in sight only.
          if (top >= box.scrollHeight - box.clientHeight) {
            break;
          }
        }
        return [...texts]
          .sort(([one], [other]) => one - other)
          .map(([, text]) => text);
      });
  }

  /**
   * Look at the page as it is: let axe look at what is ours, and keep a picture.
   *
   * @param themes - Which of them it is looked at in when there is time: else the
   * first alone.
   *
   * @param part - What the picture shows, if not all of the page.
   *
   * @param isChecked - Whether axe looks, too.
   */
  async picture(
    name: string,
    themes: readonly Theme[] = ['light', 'dark'],
    part?: Locator,
    isChecked = true
  ): Promise<void> {
    this._isLookedAt = true;
    // A question that has only just come is dimmed, and axe passes that over.
    await expect(
      this.panel.locator('.jp-hdspAgent-ask [aria-disabled="true"]')
    ).toHaveCount(0);
    const worn = IS_LONG ? themes : themes.slice(0, 1);
    await look(this.page as unknown as Page, name, worn, part, isChecked);
  }

  /**
   * No story ends without having been looked at.
   */
  async lastLook(): Promise<void> {
    const { errors, title } = test.info();
    if (this._isLookedAt || errors.length || this.page.isClosed()) {
      return;
    }
    if ((await oursOn(this.page as unknown as Page)).length) {
      await this.picture(title.replace(/\W+/g, '-').toLowerCase());
    }
  }

  /**
   * Put on a theme.
   */
  async wear(theme: Theme): Promise<void> {
    const { name } = THEMES[theme];
    await this.page.theme.setTheme(name);
    await expect(this.page.locator('body')).toHaveAttribute(
      'data-jp-theme-name',
      name
    );
  }

  private _isLookedAt = false;
}

/**
 * The connections of a page to the agent.
 */
export interface ILine {
  readonly cut: () => Promise<void>;
  readonly mend: () => void;
}

interface IFixtures {
  /**
   * The page of the test; the agent is as it is on the first day.
   */
  lab: Lab;

  /**
   * Opens one more tab of the same browser, once the first has loaded.
   */
  newTab: () => Promise<Lab>;

  /**
   * Starts servers that last as long as the test.
   */
  startServer: (options?: JupyterServer.IOptions) => Promise<JupyterServer>;
}

interface IWorkerFixtures {
  /**
   * Whether notebooks are shared in real time, as with jupyter-collaboration.
   */
  isCollaborative: boolean;

  /**
   * The Python environment that JupyterLab is started from.
   */
  installedIn: string;

  /**
   * The server that the tests of one worker share; no other worker's agent,
   * settings or files are on it.
   */
  sharedServer: JupyterServer;
}

/**
 * A test in JupyterLab. It loads the page itself, with `lab.visit()`.
 */
export const test = galataTest.extend<IFixtures, IWorkerFixtures>({
  autoGoto: false,

  isCollaborative: [false, { option: true, scope: 'worker' }],

  installedIn: ['.venv', { option: true, scope: 'worker' }],

  sharedServer: [
    async ({ installedIn, isCollaborative }, use) => {
      const server = await JupyterServer.start({
        installedIn,
        args: ['--Application.log_level=ERROR'],
        ...(isCollaborative && { env: collaboration() })
      });
      await use(server);
      await server.dispose();
    },
    { scope: 'worker', timeout: 240_000 }
  ],

  baseURL: async ({ sharedServer }, use) => {
    await use(sharedServer.url);
  },

  // Galata would ask for kernels in the page's place, and fail with the server.
  kernels: null,
  sessions: null,
  terminals: null,

  // Galata would make a folder on the server, at a path that knows no base_url.
  tmpPath: '',

  // Galata waits for the launcher, which a restored layout may not show.
  // eslint-disable-next-line no-empty-pattern -- As above.
  waitForApplication: async ({}, use) => {
    await use(async page => {
      await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
      await page.evaluate(() => window.galata.app.restored);
    });
  },

  page: async ({ page }, use) => {
    await leaveOurRequests(page);
    await use(page);
  },

  // What is on the page is looked at while the servers of the test still run.
  lab: async ({ page, request, baseURL, startServer: _ }, use) => {
    const api = new AgentApi(request, baseURL ?? '');
    await api.reset();
    await api.forgetTasks();
    const lab = new Lab(page, api);
    await use(lab);
    await lab.lastLook();
  },

  newTab: async (
    {
      appPath,
      context,
      kernels,
      lab,
      mockConfig,
      mockSettings,
      mockState,
      mockUser,
      resetWorkspace,
      sessions,
      terminals,
      waitForApplication
    },
    use
  ) => {
    await use(async () => {
      const page = await galata.initTestPage(
        appPath,
        false,
        lab.api.url,
        mockConfig,
        mockSettings,
        mockState,
        mockUser,
        await context.newPage(),
        sessions,
        terminals,
        '',
        waitForApplication,
        kernels,
        resetWorkspace
      );
      await leaveOurRequests(page);
      // JupyterLab moves a second tab of one workspace elsewhere while it loads,
      // and two tabs that load at once.
      const tab = new Lab(page, lab.api, '/lab/workspaces/other');
      await tab.visit();
      return tab;
    });
  },

  // eslint-disable-next-line no-empty-pattern -- As above.
  startServer: async ({}, use) => {
    const servers: JupyterServer[] = [];
    await use(async options => {
      const server = await JupyterServer.start(options);
      servers.push(server);
      return server;
    });
    await Promise.all(servers.map(server => server.dispose()));
  }
});

/**
 * JupyterLab asks for the language server, which the tests switch off. Jupyter
 * Server cannot list its kernels in the moment in which one of them starts.
 */
export function isLabs(message: ConsoleMessage): boolean {
  const { url } = message.location();
  const isListOfKernels =
    /\/api\/kernels\?\d+$/.test(url) && message.text().includes(' 500 ');
  return url.includes('/lsp/status') || isListOfKernels;
}

/**
 * Galata answers whatever looks like Jupyter's settings from its own memory,
 * and `hdsp-agent/api/settings` looks like it.
 */
async function leaveOurRequests(page: Page): Promise<void> {
  await page.route(/\/hdsp-agent\/api\//, route => route.continue());
}
