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
   * The model that is offered to people who have chosen none.
   */
  get offered(): LocalModelView | null {
    const models = this.value?.models ?? [];
    return models.find(({ isDefault }) => isDefault) ?? null;
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
    this._lookAgain();
  }

  /**
   * Get a model, whose size and licence the person has agreed to.
   *
   * @param path - A file of the person's to take it from.
   */
  get({ id, licence, size }: LocalModelView, path?: string): Promise<boolean> {
    return this._onModel(() =>
      this._api.getLocalModel(id, {
        consent: { licence, size },
        ...(path !== undefined && { path })
      })
    );
  }

  /**
   * Stop getting a model; what has come stays for the next time.
   */
  cancel({ id }: LocalModelView): Promise<boolean> {
    return this._onModel(() => this._api.cancelLocalModel(id));
  }

  /**
   * Delete a model, or what there is of it.
   */
  async remove({ id }: LocalModelView): Promise<boolean> {
    this._freed = null;
    const done = await this.act(async () => {
      this._freed = await this._api.removeLocalModel(id);
    });
    await this.refresh();
    return done;
  }

  /**
   * See whether a model runs on this machine, and how fast.
   */
  async try(choice: EmbeddedChoice): Promise<boolean> {
    const done = await this.act(async () => {
      await this._api.tryLocalModel(choice);
    });
    await this.refresh();
    return done;
  }

  /**
   * Make a profile of a model, and the current one.
   */
  use(choice: EmbeddedChoice): Promise<boolean> {
    return this.act(async () => {
      await this._api.useLocalModel(choice);
    });
  }

  /**
   * Have the model's process give its memory back.
   */
  async release(): Promise<boolean> {
    const done = await this.act(async () => {
      await this._api.releaseLocalModel();
    });
    await this.refresh();
    return done;
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

  private async _onModel(ask: () => Promise<LocalModelView>): Promise<boolean> {
    const done = await this.act(async () => {
      const answer = await ask();
      if (this.value !== null) {
        const models = this.value.models.map(model =>
          model.id === answer.id ? answer : model
        );
        this.accept({ ...this.value, models });
      }
    });
    this._lookAgain();
    return done;
  }

  private _lookAgain(): void {
    clearTimeout(this._timer);
    const isComing = this.value?.models.some(
      ({ state }) => state === 'getting'
    );
    if (isComing && !this.isDisposed) {
      const pause = this.loadError === null ? 500 : 3_000;
      this._timer = setTimeout(() => void this.refresh(), pause);
    }
  }

  private readonly _pace = new DownloadRate();
  private _freed: number | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
