import { Clipboard } from '@jupyterlab/apputils';
import * as React from 'react';

import type { SeenContext } from '../../generated/rest';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { usePanel } from '../../ui/services';
import { FixedParts } from './fixedparts';
import { MessagePages } from './messagepages';
import { ContextPartsBar, ContextPartsTable } from './contextparts';
import { ContextSearch } from './contextsearch';
import { useContextPages } from './usecontext';
import type { ContextWidget } from './contextwidget';

/**
 * The request that the model would be sent next: what takes how much room, and
 * each part of it.
 */
export function ContextView({
  taskId,
  name
}: ContextWidget.IShown): JSX.Element {
  const { trans } = usePanel();
  const seen = useContextPages(taskId);
  const { request, error, isBusy } = seen;
  const [wanted, setWanted] = React.useState('');
  const [aim, setAim] = React.useState<number | null>(null);
  const [said, setSaid] = React.useState('');
  const copy = useAction();
  return (
    <div className="jp-hdspAgent-context-view">
      <div className="jp-hdspAgent-context-head">
        <h2>
          {name === ''
            ? trans.__('What the model sees')
            : trans.__('What the model sees of “%1”', name)}
        </h2>
        <div className="jp-hdspAgent-context-actions">
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            onClick={() => {
              setWanted('');
              setAim(null);
              void seen.refresh();
            }}
          >
            {trans.__('Refresh')}
          </button>
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={copy.isBusy || request === null}
            onClick={() =>
              void copy.run(async () => {
                Clipboard.copyToSystem(asJson(await seen.whole()));
                setSaid(trans.__('Copied'));
              })
            }
          >
            {trans.__('Copy as JSON')}
          </button>
        </div>
      </div>
      <ProblemNote error={error ?? copy.error} />
      <p className="jp-hdspAgent-announcement" role="status">
        {request === null && isBusy ? trans.__('Loading…') : said}
      </p>
      {request !== null && (
        <>
          <About request={request} />
          <ContextPartsBar request={request} />
          <ContextPartsTable request={request} />
          <ContextSearch
            seen={seen}
            onFind={text => {
              setWanted(text);
              setAim(null);
            }}
            onAim={setAim}
          />
          <FixedParts request={request} wanted={wanted} />
          <MessagePages
            request={request}
            seen={seen}
            wanted={wanted}
            aim={aim}
          />
        </>
      )}
    </div>
  );
}

function About({ request }: { request: SeenContext }): JSX.Element {
  const { trans } = usePanel();
  const { model, profile, isShortened, marks } = request;
  return (
    <div className="jp-hdspAgent-context-about">
      <p>
        {trans.__(
          'This is the next request to %1 (profile “%2”), as far as it is recorded. Token counts are estimates. Keys and passwords are masked.',
          model === '' ? trans.__('a model') : model,
          profile
        )}
      </p>
      {isShortened && (
        <p>
          {trans.__(
            'This model is small, so it gets less than this, with its own tools.'
          )}
        </p>
      )}
      {marks === undefined && (
        <p>
          {trans.__(
            'The provider caches on its own, usually everything that was sent before.'
          )}
        </p>
      )}
    </div>
  );
}

function asJson({ model, system, tools, messages }: SeenContext): string {
  return JSON.stringify({ model, system, tools, messages }, null, 2);
}
