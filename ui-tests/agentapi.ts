import type { APIRequestContext } from '@playwright/test';
import { expect } from '@playwright/test';

import type { ExtensionMessage, ServerFrame } from '../src/generated/wire';

/**
 * The conversation the scripted agent speaks in; see `scripted_agent.py`.
 */
export const TASK_ID = '019a0000-0000-7000-8000-000000000001';

/**
 * The server's REST interface, and the scripted agent's, as a test calls them.
 */
export class AgentApi {
  /**
   * @param request - Sends the requests.
   *
   * @param url - Where the server is, without a slash at the end.
   */
  constructor(
    private readonly _request: APIRequestContext,
    readonly url: string
  ) {}

  /**
   * What a GET answers, as it comes.
   */
  async text(path: string): Promise<string> {
    const response = await this._request.get(this._of(path));
    expect(response.status(), path).toBe(200);
    return response.text();
  }

  /**
   * What a GET answers.
   */
  async get<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T;
  }

  /**
   * The stored value of a setting; `undefined` when it has none.
   */
  async setting(name: string): Promise<unknown> {
    const { settings } = await this.get<ISettingsAnswer>('settings');
    return settings[name];
  }

  /**
   * Change settings, as another program would.
   */
  async change(settings: Record<string, unknown>): Promise<void> {
    const response = await this._request.patch(this._of('settings'), {
      data: settings
    });
    expect(response.status()).toBe(200);
  }

  /**
   * All settings, profiles and keys as they are on the first day.
   */
  async reset(): Promise<void> {
    const response = await this._request.delete(this._of('settings'));
    expect(response.status()).toBe(200);
  }

  /**
   * Delete a stored conversation.
   */
  async deleteTask(id: string): Promise<void> {
    const response = await this._request.delete(this._of(`history/${id}`));
    expect(response.ok()).toBe(true);
  }

  /**
   * Put every conversation aside, and delete it.
   */
  async forgetTasks(): Promise<void> {
    const list = async () =>
      (
        await this.get<{ taskHistory: { id: string }[] }>('history?limit=100')
      ).taskHistory.map(({ id }) => id);
    const ids = await list();
    for (const id of ids) {
      await this.command('CloseTask', { taskId: id });
    }
    // With a conversation go its subtasks.
    for (let left = ids; left.length > 0; left = await list()) {
      await this.deleteTask(left[0]);
    }
  }

  /**
   * Have nothing remembered.
   */
  async forgetMemory(): Promise<void> {
    const response = await this._request.delete(this._of('memory?what=all'));
    expect(response.status()).toBe(200);
  }

  /**
   * The notes and what was learned, as they are kept.
   */
  async remembered(): Promise<IRemembered> {
    const { memory } = await this.get<{
      memory: Record<keyof IRemembered, { text: string }[]>;
    }>('memory');
    return {
      notes: memory.notes.map(({ text }) => text),
      learned: memory.learned.map(({ text }) => text)
    };
  }

  /**
   * Let so much time pass for what learns from finished conversations.
   */
  async later(hours: number): Promise<void> {
    await this._test('later', { hours });
  }

  /**
   * Let the search know of all notebooks and conversations now, and not within
   * the hour.
   */
  async updateSearch(): Promise<void> {
    await this._test('search', {});
  }

  /**
   * The names of the profiles.
   */
  async profiles(): Promise<IProfilesAnswer> {
    return this.get<IProfilesAnswer>('profiles');
  }

  /**
   * Have the server publish messages to all tabs.
   */
  async publish(...messages: ExtensionMessage[]): Promise<void> {
    await this._test('publish', messages);
  }

  /**
   * Have the server stream a text to the end of a message.
   */
  async append(ts: number, text: string): Promise<void> {
    await this._test('append', { ts, text });
  }

  /**
   * Change the profile that is used.
   */
  async useProfile(settings: Record<string, unknown>): Promise<void> {
    const response = await this._request.patch(this._of('profiles/default'), {
      data: { settings }
    });
    expect(response.status()).toBe(200);
  }

  /**
   * What Jupyter's own interface answers.
   */
  async jupyter<T>(method: string, path: string, data?: unknown): Promise<T> {
    const response = await this._request.fetch(`${this.url}/api/${path}`, {
      method,
      data
    });
    expect(response.ok(), `${method} ${path}: ${response.status()}`).toBe(true);
    return JSON.parse((await response.text()) || 'null') as T;
  }

  /**
   * Begin a task, as a program outside does; its id.
   */
  async startTask(text: string): Promise<string> {
    const { task } = await this._test<ITaskAnswer>('command', {
      commandName: 'StartNewTask',
      data: { configuration: {}, text }
    });
    return task;
  }

  /**
   * Tell the agent something about a task, as a program outside does.
   */
  async command(commandName: string, fields: object): Promise<void> {
    await this._test('command', { commandName, ...fields });
  }

  /**
   * Have a stored conversation be about a folder.
   */
  async place(task: string, workspace: string): Promise<void> {
    await this._test('place', { task, workspace });
  }

  private async _test<T>(name: string, data: unknown): Promise<T> {
    const response = await this._request.post(
      `${this.url}/hdsp-agent-test/${name}`,
      { data }
    );
    expect(response.status(), await response.text()).toBe(200);
    return (await response.json()) as T;
  }

  private _of(path: string): string {
    return `${this.url}/hdsp-agent/api/${path}`;
  }
}

/**
 * A message of the agent that is complete.
 */
export function said(ts: number, text: string): ExtensionMessage {
  return {
    type: 'messageCreated',
    taskId: TASK_ID,
    message: { ts, type: 'say', say: 'text', text, partial: false }
  };
}

/**
 * The frames of one WebSocket message.
 */
export function framesOf(text: string): ServerFrame[] {
  const content = JSON.parse(text) as ServerFrame | ServerFrame[];
  return Array.isArray(content) ? content : [content];
}

interface IRemembered {
  notes: string[];
  learned: string[];
}

interface ISettingsAnswer {
  settings: Record<string, unknown>;
}

interface ITaskAnswer {
  task: string;
}

interface IProfilesAnswer {
  current: string;
  profiles: { name: string; pinned?: boolean }[];
}
