import { infoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { LocalModelView, LocalRuntimeView } from '../../generated/rest';
import type { EmbeddedData } from '../../rest/embeddeddata';
import { Popover } from '../../ui/controls/popover';
import { isWorking } from '../../state/panel/senddraft';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { BetterChoices } from './betterchoices';
import { useEmbedded } from './useembedded';
import { abilityText, shortAbilityText } from './localmodeltexts';
import { RuntimeFacts } from './runtimefacts';

const WHILE_AT_WORK = 1_000;
const WHILE_LOOKED_AT = 3_000;

// After that it is no news any more.
const NEWS_MILLISECONDS = 120_000;

/**
 * In a line, which model answers and how it is; in a window, what it can and
 * cannot do, what it takes here, and what answers better.
 */
export function LimitationsLabel({
  modelId
}: {
  /**
   * Which of the listed models it is; `null` for a file of the person's, or the default.
   */
  modelId: string | null;
}): JSX.Element | null {
  const { client, store, trans } = usePanel();
  const embedded = useEmbedded();
  const works = useStore(store, isWorking);
  const isOwn = useStore(
    store,
    ({ state }) => state?.apiConfiguration?.localModelPath !== undefined
  );
  useRefresh(embedded, works ? WHILE_AT_WORK : null);
  const list = embedded.value;
  if (list === null) {
    return null;
  }
  const model =
    list.models.find(({ id }) => id === modelId) ??
    (isOwn || modelId !== null ? null : embedded.offered);
  const name = model?.name ?? trans.__('A file of yours');
  const news = newsOf(list.runtime, model, works, client.clock.now());
  const about = {
    none: shortAbilityText(model?.ability ?? 'unknown', trans),
    missing: trans.__('not on this machine yet'),
    starting: trans.__('starting…'),
    waiting: trans.__('waiting for its turn…'),
    failed: trans.__('did not run the last time'),
    restarted: trans.__('had to be restarted')
  }[news];
  return (
    <div className="jp-hdspAgent-honesty" data-news={news}>
      <Popover
        label={trans.__('About the embedded model')}
        buttonLabel={trans.__('%1: %2', name, about)}
        description={trans.__(
          '%1: %2. What it can do, and better models',
          name,
          about
        )}
        className="jp-hdspAgent-honesty-button"
        face={
          <>
            <strong>{name}</strong> <span>{about}</span>
            <infoIcon.react
              tag="span"
              aria-hidden="true"
              width="14px"
              height="14px"
            />
          </>
        }
      >
        {close => (
          <Details
            embedded={embedded}
            model={model}
            name={name}
            onClose={close}
          />
        )}
      </Popover>
      <span className="jp-hdspAgent-announcement" role="status">
        {news === 'none' ? '' : trans.__('%1: %2', name, about)}
      </span>
    </div>
  );
}

type News =
  'none' | 'missing' | 'starting' | 'waiting' | 'failed' | 'restarted';

/**
 * What of the model's state a person should see without asking.
 */
function newsOf(
  runtime: LocalRuntimeView,
  model: LocalModelView | null,
  works: boolean,
  now: number
): News {
  if (model !== null && model.state !== 'ready') {
    return 'missing';
  }
  if (runtime.state === 'starting') {
    return 'starting';
  }
  if (runtime.failure !== undefined) {
    return 'failed';
  }
  if (works && runtime.waiting > 0) {
    return 'waiting';
  }
  const since = now - Date.parse(runtime.restartedAt ?? '');
  return since < NEWS_MILLISECONDS ? 'restarted' : 'none';
}

function Details({
  embedded,
  model,
  name,
  onClose
}: {
  embedded: EmbeddedData;
  model: LocalModelView | null;
  name: string;
  onClose: () => void;
}): JSX.Element {
  const { openSettings, trans } = usePanel();
  useRefresh(embedded, WHILE_LOOKED_AT);
  const isMissing = model !== null && model.state !== 'ready';
  return (
    <div className="jp-hdspAgent-honesty-details">
      <h3 className="jp-hdspAgent-ask-popover-title">{name}</h3>
      {isMissing && (
        <p>{trans.__('Its weights are not on this machine yet.')}</p>
      )}
      {!isMissing && <RuntimeFacts embedded={embedded} trans={trans} />}
      <p>{abilityText(model ?? { ability: 'unknown' }, trans)}</p>
      <BetterChoices onClose={onClose} />
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => {
            onClose();
            openSettings('embedded');
          }}
        >
          {isMissing
            ? trans.__('Download it in the settings')
            : trans.__('Embedded models…')}
        </button>
      </div>
    </div>
  );
}

/**
 * Ask how it is, now and from time to time.
 *
 * @param every - Milliseconds; `null` is once, whenever that changes.
 */
function useRefresh(embedded: EmbeddedData, every: number | null): void {
  React.useEffect(() => {
    void embedded.refresh();
    if (every === null) {
      return;
    }
    const timer = setInterval(() => void embedded.refresh(), every);
    return () => clearInterval(timer);
  }, [embedded, every]);
}
