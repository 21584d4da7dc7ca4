import type { ChannelClient } from '../../comm/client';
import type {
  Command,
  ModeConfig,
  ModePrompt,
  Source
} from '../../generated/wire';
import { requestMessage } from '../../comm/requestmessage';
import { RemoteData } from '../../rest/remotedata';

/**
 * How the settings ask for modes and slash commands.
 */
export type ModesClient = Pick<ChannelClient, 'messageReceived' | 'request'>;

/**
 * The modes there are, and what a person changes about them.
 */
export class ModesData extends RemoteData<readonly ModeConfig[]> {
  constructor(private readonly _client: ModesClient) {
    super();
  }

  /**
   * Write a mode of one's own.
   *
   * @param slug - The one it takes the place of; `null` for a new one.
   */
  save(mode: ModeConfig, slug: string | null): Promise<boolean> {
    return this._change({
      type: 'updateCustomMode',
      modeConfig: mode,
      ...(slug === null ? {} : { slug })
    });
  }

  delete(slug: string): Promise<boolean> {
    return this._change({ type: 'deleteCustomMode', slug });
  }

  /**
   * Change what a mode is told; without any field it is again as it came.
   */
  savePrompt(slug: string, prompt: ModePrompt): Promise<boolean> {
    return this._change({
      type: 'updatePrompt',
      promptMode: slug,
      customPrompt: prompt
    });
  }

  /**
   * Take over a mode, with its rules, from a file.
   *
   * @returns Its slug; `null` if it was refused.
   */
  async import(text: string): Promise<string | null> {
    let slug: string | null = null;
    await this.act(async () => {
      const request = { type: 'importMode', text } as const;
      const found = await requestMessage(
        this._client,
        request,
        'importModeResult'
      );
      slug = found.slug;
      await this.refresh();
    });
    return slug;
  }

  /**
   * A mode, with its rules, as a file's content; `null` if that was refused.
   */
  async export(slug: string): Promise<string | null> {
    let text: string | null = null;
    await this.act(async () => {
      const request = { type: 'exportMode', slug } as const;
      text = (await requestMessage(this._client, request, 'exportModeResult'))
        .text;
    });
    return text;
  }

  /**
   * What a new conversation in a mode tells the model first.
   */
  async prompt(slug: string): Promise<string | null> {
    let text: string | null = null;
    await this.act(async () => {
      const request = { type: 'getSystemPrompt', mode: slug } as const;
      const found = await requestMessage(this._client, request, 'systemPrompt');
      text = found.mode === slug ? found.text : null;
    });
    return text;
  }

  protected async fetch(): Promise<readonly ModeConfig[]> {
    // The answer has the modes whole, the message only their names.
    const modes = await this._client.request({ type: 'requestModes' });
    return modes as unknown as readonly ModeConfig[];
  }

  private _change(request: ChannelClient.Request): Promise<boolean> {
    return this.act(async () => {
      await this._client.request(request);
      await this.refresh();
    });
  }
}

/**
 * The slash commands there are, and what a person changes about them.
 */
export class CommandsData extends RemoteData<readonly Command[]> {
  constructor(private readonly _client: ModesClient) {
    super();
  }

  /**
   * What the file of a command says; `null` if it cannot be read.
   */
  async file(name: string, source: Source): Promise<string | null> {
    let content: string | null = null;
    await this.act(async () => {
      const answer = await this._client.request({
        type: 'openCommandFile',
        text: name,
        values: { source }
      });
      content = typeof answer === 'string' ? answer : null;
    });
    return content;
  }

  /**
   * Write the file of a command.
   *
   * @param isNew - Whether it must not be there yet.
   */
  save(
    name: string,
    source: Source,
    content: string,
    isNew: boolean
  ): Promise<boolean> {
    return this._change({
      type: 'createCommand',
      text: name,
      values: { source, content, ...(isNew ? { isNew } : {}) }
    });
  }

  delete(name: string, source: Source): Promise<boolean> {
    return this._change({
      type: 'deleteCommand',
      text: name,
      values: { source }
    });
  }

  protected async fetch(): Promise<readonly Command[]> {
    const request = { type: 'requestCommands' } as const;
    return (await requestMessage(this._client, request, 'commands')).commands;
  }

  private _change(request: ChannelClient.Request): Promise<boolean> {
    return this.act(async () => {
      await this._client.request(request);
      await this.refresh();
    });
  }
}
