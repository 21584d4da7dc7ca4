import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { errorText } from '../../errors';
import type { LocalModelList, LocalModelView } from '../../generated/rest';
import type { ErrorBody } from '../../generated/wire';
import type { EmbeddedData } from '../../rest/embeddeddata';
import { percentText } from '../../ui/texts/formats';
import {
  abilityText,
  bytesText,
  originText,
  progressText,
  sourceText,
  speedText
} from './localmodeltexts';

/**
 * What a part of an embedded model's card works with.
 */
interface IPart {
  readonly embedded: EmbeddedData;
  readonly model: LocalModelView;
  readonly trans: TranslationBundle;
}

/**
 * An embedded model: what it is, can do and takes, how the getting of it goes,
 * and what can be done with it.
 */
export function ModelCard({
  embedded,
  model,
  trans,
  problem = null,
  onGet,
  children
}: IPart & {
  /**
   * What went wrong with it besides the getting.
   */
  readonly problem?: ErrorBody | null;

  /**
   * Told when a person has agreed to it.
   */
  readonly onGet?: () => void;

  /**
   * More that can be done with it while it is not being fetched.
   */
  readonly children?: React.ReactNode;
}): JSX.Element {
  const part = { embedded, model, trans };
  const isComing = model.state === 'getting';
  const trouble = isComing ? null : (problem ?? model.failure ?? null);
  const list = embedded.value;
  // What a person has agreed to before is folded, so that they see what is new.
  const isFamiliar = model.state === 'partial' || trouble !== null;
  return (
    <div className="jp-hdspAgent-getting">
      <p>{abilityText(model, trans)}</p>
      {isComing ? (
        <DownloadProgress {...part} />
      ) : (
        <details open={!isFamiliar}>
          <summary>{trans.__('License, size and source')}</summary>
          {list && <Facts {...part} list={list} />}
        </details>
      )}
      <Problem error={trouble} trans={trans} />
      {model.state === 'partial' && (
        <p>
          {trans.__(
            '%1 of %2 are already here. The download continues from there.',
            bytesText(model.done, trans),
            bytesText(model.size, trans)
          )}
        </p>
      )}
      <div
        className="jp-hdspAgent-actions"
        role="group"
        aria-label={trans.__('Actions for “%1”', model.name)}
      >
        <Getting {...part} onGet={onGet} />
        {!isComing && children}
      </div>
    </div>
  );
}

/**
 * What it takes, under which license it is, and where it comes from.
 */
function Facts({
  embedded,
  model,
  list,
  trans
}: IPart & { readonly list: LocalModelList }): JSX.Element {
  const { free, freeMemory, runtime } = list;
  const size = bytesText(model.size, trans);
  const memory = bytesText(model.memory, trans);
  const speed = runtime.model === model.id ? speedText(runtime, trans) : '';
  const isTight = freeMemory !== undefined && freeMemory < model.memory;
  const facts: readonly [string, React.ReactNode][] = [
    [trans.__('Model'), model.name],
    [trans.__('License'), <Licence key="" {...{ embedded, model, trans }} />],
    [
      trans.__('Size'),
      free === undefined
        ? size
        : trans.__('%1 to download once; %2 free', size, bytesText(free, trans))
    ],
    [
      trans.__('Memory'),
      freeMemory === undefined
        ? trans.__('about %1 while it works', memory)
        : trans.__(
            'about %1 while it works; %2 free',
            memory,
            bytesText(freeMemory, trans)
          )
    ],
    [trans.__('Source'), originText(model, trans)],
    [trans.__('SHA-256 checksum'), <code key="">{model.sha256}</code>]
  ];
  return (
    <>
      <dl className="jp-hdspAgent-facts">
        {facts.map(([name, fact]) => (
          <React.Fragment key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </React.Fragment>
        ))}
      </dl>
      {speed !== '' && <p>{speed}</p>}
      {isTight && runtime.model !== model.id && (
        <p className="jp-hdspAgent-problem" role="alert">
          {trans.__(
            'There is too little memory for it right now. Close other programs or notebooks before you use it.'
          )}
        </p>
      )}
    </>
  );
}

/**
 * Its license: a page, and for those of the list the text itself.
 */
function Licence({ embedded, model, trans }: IPart): JSX.Element {
  const [text, setText] = React.useState<string | null>(null);
  return (
    <>
      <a
        className="jp-hdspAgent-link"
        href={model.licenceUrl}
        target="_blank"
        rel="noopener noreferrer"
      >
        {model.licence === '' ? trans.__('none is declared') : model.licence}
      </a>
      {!model.isAdded && text === null && (
        <>
          {' · '}
          <button
            type="button"
            className="jp-hdspAgent-link"
            onClick={() => void embedded.licence(model).then(setText)}
          >
            {trans.__('Show its text')}
          </button>
        </>
      )}
      {text !== null && (
        <pre tabIndex={0} className="jp-hdspAgent-licence">
          {text}
        </pre>
      )}
    </>
  );
}

/**
 * How far the getting of a model is.
 */
function DownloadProgress({ embedded, model, trans }: IPart): JSX.Element {
  const { done, name, size } = model;
  const { pace } = embedded;
  const id = React.useId();
  const from = sourceText(model, trans);
  return (
    <>
      <progress
        className="jp-hdspAgent-progress"
        aria-label={trans.__('Downloading %1', name)}
        aria-describedby={id}
        value={done}
        max={size}
      >
        {percentText(Math.min(1, done / size))}
      </progress>
      <p id={id}>
        {progressText(model, pace.speed, pace.remaining(size), trans)}
      </p>
      {from !== '' && <p>{from}</p>}
    </>
  );
}

/**
 * What went wrong, brought into sight.
 */
function Problem({
  error,
  trans
}: {
  readonly error: ErrorBody | null;
  readonly trans: TranslationBundle;
}): JSX.Element {
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
      {error && (
        <p className="jp-hdspAgent-problem" role="alert">
          {errorText(trans, error)}
        </p>
      )}
    </div>
  );
}

/**
 * Agreeing to a model, stopping it, and deleting it.
 */
function Getting({
  embedded,
  model,
  trans,
  onGet
}: IPart & { readonly onGet?: () => void }): JSX.Element {
  const { state } = model;
  const button = (label: string, run: () => void, isMain = false) => (
    <button
      type="button"
      className={`jp-hdspAgent-button${isMain ? ' jp-mod-accept' : ''}`}
      disabled={embedded.isBusy}
      onClick={run}
    >
      {label}
    </button>
  );
  const get = () => {
    onGet?.();
    void embedded.get(model);
  };
  switch (state) {
    case 'getting':
      return button(trans.__('Cancel'), () => void embedded.cancel(model));
    case 'absent':
      return button(
        trans.__('Accept and download (%1)', bytesText(model.size, trans)),
        get,
        true
      );
    case 'partial':
    case 'ready':
      return (
        <>
          {state === 'partial' &&
            button(trans.__('Continue download'), get, true)}
          {button(
            trans.__('Delete it (frees %1)', bytesText(model.done, trans)),
            () => void embedded.remove(model)
          )}
        </>
      );
  }
}
