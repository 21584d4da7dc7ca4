import type {
  EmbeddedChoice,
  LocalModelList,
  LocalModelView
} from '../generated/rest';
import { DownloadRate } from './downloadrate';

import type { SettingsApi } from './settingsapi';
import { RemoteData } from './remotedata';

/**
 * The embedded models, and how the getting of one goes.
 *
 * #### Notes
 * While one is fetched the server is asked again and again how far it is.
 */
export class EmbeddedData extends RemoteData<LocalModelList> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  /**
   * The models of the list, the one that is offered first, and those that were added.
   */
  get models(): readonly LocalModelView[] {
    return this.value?.models ?? [];
  }

  /**
   * The model that is offered to people who have chosen none.
   */
  get offered(): LocalModelView | null {
    return this.models.find(({ isOffered }) => isOffered) ?? null;
  }

  /**
   * What was found on a hub, as far as it is not in the list yet.
   */
  get found(): readonly LocalModelView[] {
    return this._found.filter(({ id }) =>
      this.models.every(model => model.id !== id)
    );
  }

  /**
   * How fast what is being fetched comes.
   */
  get pace(): DownloadRate {
    return this._pace;
  }

  /**
   * How many bytes the last deletion gave back; `null` before there was one.
   */
  get freed(): number | null {
    return this._freed;
  }

  override dispose(): void {
    clearTimeout(this._timer);
    super.dispose();
  }

  override async refresh(): Promise<void> {
    await super.refresh();
    clearTimeout(this._timer);
    const isComing = this.models.some(({ state }) => state === 'getting');
    if (isComing && !this.isDisposed) {
      const pause = this.loadError === null ? 500 : 3_000;
      this._timer = setTimeout(() => void this.refresh(), pause);
    }
  }

  /**
   * Get a model, whose size and licence the person has agreed to.
   */
  get({ id, licence, size }: LocalModelView): Promise<boolean> {
    return this._change(() =>
      this._api.getLocalModel(id, { consent: { licence, size } })
    );
  }

  /**
   * Stop getting a model; what has come stays for the next time.
   */
  cancel({ id }: LocalModelView): Promise<boolean> {
    return this._change(() => this._api.cancelLocalModel(id));
  }

  /**
   * Delete a model, or what there is of it.
   */
  remove({ id }: LocalModelView): Promise<boolean> {
    this._freed = null;
    return this._change(async () => {
      this._freed = await this._api.removeLocalModel(id);
    });
  }

  /**
   * See whether a model runs on this machine, and how fast.
   */
  try(choice: EmbeddedChoice): Promise<boolean> {
    return this._change(() => this._api.tryLocalModel(choice));
  }

  /**
   * Make a profile of a model, and the current one.
   */
  use(choice: EmbeddedChoice): Promise<boolean> {
    return this._change(() => this._api.useLocalModel(choice));
  }

  /**
   * Have the model's process give its memory back.
   */
  release(): Promise<boolean> {
    return this._change(() => this._api.releaseLocalModel());
  }

  /**
   * Look for the models of a repository of the hub, by its name.
   */
  lookUp(name: string): Promise<boolean> {
    this._found = [];
    return this._change(async () => {
      this._found = await this._api.hubModels(name);
    });
  }

  /**
   * The whole license of a model of the list; `null` if it cannot be had.
   */
  async licence({ id }: LocalModelView): Promise<string | null> {
    let text: string | null = null;
    await this.act(async () => {
      text = await this._api.localModelLicence(id);
    });
    return text;
  }

  protected fetch(): Promise<LocalModelList> {
    return this._api.localModels();
  }

  protected override accept(value: LocalModelList): void {
    const now = Date.now();
    for (const { id, source, done, state } of value.models) {
      if (state === 'getting') {
        this._pace.see(`${id} ${source}`, done, now);
      }
    }
    super.accept(value);
  }

  private async _change(ask: () => Promise<unknown>): Promise<boolean> {
    const done = await this.act(async () => void (await ask()));
    await this.refresh();
    return done;
  }

  private readonly _pace = new DownloadRate();
  private _found: readonly LocalModelView[] = [];
  private _freed: number | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
