import * as React from 'react';

import type { LocalModelView } from '../../generated/rest';
import type { ErrorBody } from '../../generated/wire';
import type { EmbeddedData } from '../../rest/embeddeddata';
import { focusComposer } from '../../ui/focuscomposer';
import { ProblemNote } from '../../ui/controls/problemnote';
import { ModelFacts } from '../localmodel/modelfacts';
import { DownloadProgress } from '../localmodel/downloadprogress';
import { useEmbedded } from '../localmodel/useembedded';
import { bytesText } from '../localmodel/localmodeltexts';
import { usePanel } from '../../ui/services';

/**
 * The second step with the embedded model: agree to it, watch it come, and go.
 */
export function EmbeddedStep({
  heading,
  onBusy,
  onBack,
  onDone
}: {
  /**
   * Where whoever hears the page goes on.
   */
  readonly heading: React.RefObject<HTMLHeadingElement>;
  readonly onBusy: (isBusy: boolean) => void;
  readonly onBack: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const { node, trans } = usePanel();
  const embedded = useEmbedded();
  const { offered: model, value: list } = embedded;
  const [isStarting, setStarting] = React.useState(false);
  // Somebody waits here until it has come.
  const isWanted = React.useRef(false);
  const start = React.useCallback(
    async (id: string) => {
      isWanted.current = false;
      setStarting(true);
      const isDone =
        (await embedded.try({ model: id })) &&
        (await embedded.use({ model: id }));
      setStarting(false);
      if (isDone) {
        onDone();
        focusComposer(node);
      }
    },
    [embedded, node, onDone]
  );
  const state = model?.state;
  React.useEffect(() => {
    if (state === 'getting') {
      isWanted.current = true;
      onBusy(true);
    }
    if (state === 'ready' && isWanted.current && model) {
      void start(model.id);
    }
  }, [state, model, onBusy, start]);
  const get = () => {
    onBusy(true);
    if (model) {
      void embedded.get(model);
    }
  };
  const failure = state === 'getting' ? null : model?.failure;
  const trouble = isStarting ? null : (embedded.error ?? failure ?? null);
  return (
    <div className="jp-hdspAgent-setup-form">
      <h4 ref={heading} tabIndex={-1}>
        {trans.__('2 of 2: The embedded model')}
      </h4>
      <ProblemNote error={embedded.loadError} />
      {model && list && !isStarting && state !== 'getting' && (
        <Facts isFamiliar={state === 'partial' || trouble !== null}>
          <ModelFacts model={model} list={list} />
        </Facts>
      )}
      {model && state === 'getting' && (
        <DownloadProgress model={model} pace={embedded.pace} trans={trans} />
      )}
      <p role="status">
        {isStarting && model
          ? trans.__('Starting %1 to see whether it runs here…', model.name)
          : state === 'getting'
            ? trans.__(
                'You can keep working. The download continues if you close this.'
              )
            : ''}
      </p>
      <DownloadProblem error={trouble} />
      {model && !isStarting && (
        <Buttons
          embedded={embedded}
          model={model}
          onGet={get}
          onStart={() => {
            onBusy(true);
            void start(model.id);
          }}
          onBack={onBack}
        />
      )}
    </div>
  );
}

/**
 * What a person has agreed to before is folded, so that they see what is new.
 */
function Facts({
  isFamiliar,
  children
}: {
  isFamiliar: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  return isFamiliar ? (
    <details>
      <summary>{trans.__('What it is, needs and can do')}</summary>
      {children}
    </details>
  ) : (
    <>{children}</>
  );
}

/**
 * What went wrong, brought into sight.
 */
function DownloadProblem({ error }: { error: ErrorBody | null }): JSX.Element {
  const place = React.useRef<HTMLDivElement>(null);
  const code = error?.code;
  React.useEffect(() => {
    if (code !== undefined) {
      // Not every environment lays anything out.
      place.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [code]);
  return (
    <div ref={place}>
      <ProblemNote error={error} />
    </div>
  );
}

function Buttons({
  embedded,
  model,
  onGet,
  onStart,
  onBack
}: {
  embedded: EmbeddedData;
  model: LocalModelView;
  onGet: () => void;
  onStart: () => void;
  onBack: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { isBusy } = embedded;
  const size = bytesText(model.size, trans);
  if (model.state === 'getting') {
    return (
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={isBusy}
          onClick={() => void embedded.cancel(model)}
        >
          {trans.__('Cancel')}
        </button>
      </div>
    );
  }
  const isTried = model.state === 'ready' && embedded.error !== null;
  return (
    <>
      {model.state === 'partial' && (
        <p>
          {trans.__(
            '%1 of %2 are already here. The download continues from there.',
            bytesText(model.done, trans),
            size
          )}
        </p>
      )}
      <div className="jp-hdspAgent-actions jp-mod-inSight">
        <button
          type="button"
          className="jp-hdspAgent-button jp-mod-accept"
          disabled={isBusy}
          onClick={model.state === 'ready' ? onStart : onGet}
        >
          {model.state === 'ready'
            ? isTried
              ? trans.__('Try again')
              : trans.__('Start')
            : model.state === 'partial'
              ? trans.__('Continue download')
              : trans.__('Accept and download (%1)', size)}
        </button>
        {(isTried || model.state === 'partial') && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            disabled={isBusy}
            onClick={() => void embedded.remove(model)}
          >
            {trans.__('Delete it (frees %1)', bytesText(model.done, trans))}
          </button>
        )}
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={isBusy}
          onClick={onBack}
        >
          {trans.__('Back')}
        </button>
      </div>
    </>
  );
}
