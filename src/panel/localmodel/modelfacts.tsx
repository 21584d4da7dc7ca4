import * as React from 'react';

import type { LocalModelList, LocalModelView } from '../../generated/rest';
import { usePanel } from '../../ui/services';
import {
  bytesText,
  canText,
  limitsText,
  privacyText,
  speedText
} from './localmodeltexts';

/**
 * What an embedded model is, what it takes, and what it can and cannot do.
 */
export function ModelFacts({
  model,
  list
}: {
  model: LocalModelView;
  list: LocalModelList;
}): JSX.Element {
  const { trans } = usePanel();
  const { free, freeMemory, runtime } = list;
  const speed = runtime.model === model.id ? speedText(runtime, trans) : '';
  const size = bytesText(model.size, trans);
  const memory = bytesText(model.memory, trans);
  return (
    <>
      <p>{privacyText(trans)}</p>
      <dl className="jp-hdspAgent-facts">
        <dt>{trans.__('Model')}</dt>
        <dd>{model.name}</dd>
        <dt>{trans.__('License')}</dt>
        <dd>
          <a
            className="jp-hdspAgent-link"
            href={model.licenceUrl}
            target="_blank"
            rel="noopener noreferrer"
          >
            {model.licence}
          </a>
        </dd>
        <dt>{trans.__('Size')}</dt>
        <dd>
          {free === undefined
            ? size
            : trans.__(
                '%1 to download once; %2 free',
                size,
                bytesText(free, trans)
              )}
        </dd>
        <dt>{trans.__('Memory')}</dt>
        <dd>
          {freeMemory === undefined
            ? trans.__('about %1 while it works', memory)
            : trans.__(
                'about %1 while it works; %2 free',
                memory,
                bytesText(freeMemory, trans)
              )}
        </dd>
      </dl>
      {speed !== '' && <p>{speed}</p>}
      <Abilities />
      {freeMemory !== undefined && freeMemory < model.memory && (
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
 * What a model this small can do, and what not.
 */
export function Abilities(): JSX.Element {
  const { trans } = usePanel();
  return (
    <>
      <p>
        <strong>{trans.__('What it can do:')}</strong> {canText(trans)}
      </p>
      <p>
        <strong>{trans.__('Its limits:')}</strong> {limitsText(trans)}
      </p>
    </>
  );
}
