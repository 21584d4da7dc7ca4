import * as React from 'react';

import { errorText } from '../../errors';
import type { LocalModelList, LocalModelView } from '../../generated/rest';
import { ModelCard } from '../../panel/localmodel/modelcard';
import { bytesText, privacyText } from '../../panel/localmodel/localmodeltexts';
import { RuntimeFacts } from '../../panel/localmodel/runtimefacts';

import { useSettings } from '../settingscontext';
import { OtherModel } from './othermodel';
import { SectionProblem } from './sectionproblem';

/**
 * The embedded models: which there are, getting and deleting one, and the one that runs.
 */
export function EmbeddedSection(): JSX.Element {
  const { model, trans } = useSettings();
  const { embedded } = model;
  React.useEffect(() => void embedded.refresh(), [embedded]);
  const list = embedded.value;
  return (
    <>
      <p className="jp-hdspSettings-description">{privacyText(trans)}</p>
      <SectionProblem error={embedded.error ?? embedded.loadError} />
      {list && !list.allowed && (
        <p className="jp-hdspSettings-warning">
          {trans.__('Your administrator does not allow them.')}
        </p>
      )}
      {list?.allowed && !list.installed && (
        <p className="jp-hdspSettings-warning">
          {errorText(trans, { code: 'local_runtime_missing', message: '' })}
        </p>
      )}
      {list?.allowed && (
        <>
          <Models list={list} />
          {list.installed && <Running list={list} />}
          {list.installed && list.othersAllowed && <OtherModel />}
        </>
      )}
    </>
  );
}

function Models({ list }: { list: LocalModelList }): JSX.Element {
  const { model, trans } = useSettings();
  const { freed } = model.embedded;
  const { folder, free } = list;
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Models')}</legend>
      <ul className="jp-hdspSettings-embedded">
        {list.models.map(one => (
          <ModelItem key={one.id} one={one} isUsable={list.installed} />
        ))}
      </ul>
      <p className="jp-hdspSettings-hint" role="status">
        {freed !== null && trans.__('%1 freed.', bytesText(freed, trans))}
      </p>
      <p className="jp-hdspSettings-hint">
        {free === undefined
          ? trans.__('Kept in %1', folder)
          : trans.__('Kept in %1; %2 free', folder, bytesText(free, trans))}
      </p>
    </fieldset>
  );
}

function ModelItem({
  one,
  isUsable
}: {
  one: LocalModelView;
  isUsable: boolean;
}): JSX.Element {
  const { model, trans, announce } = useSettings();
  const { embedded, profiles } = model;
  const use = async () => {
    if (await embedded.use({ model: one.id })) {
      await profiles.refresh();
      announce(trans.__('New conversations use %1.', one.name));
    }
  };
  const actions: readonly [string, () => Promise<unknown>][] = [
    [trans.__('Use'), use],
    [trans.__('Try it here'), () => embedded.try({ model: one.id })]
  ];
  return (
    <li aria-label={one.name}>
      <div className="jp-hdspSettings-embeddedHead">
        <span className="jp-hdspSettings-label">{one.name}</span>
        {one.state === 'ready' && (
          <span className="jp-hdspSettings-badge">
            {trans.__('On this machine')}
          </span>
        )}
        {one.isOffered && (
          <span className="jp-hdspSettings-badge">
            {trans.__('Recommended')}
          </span>
        )}
      </div>
      <ModelCard embedded={embedded} model={one} trans={trans}>
        {one.state === 'ready' &&
          isUsable &&
          actions.map(([label, run]) => (
            <button
              key={label}
              type="button"
              className="jp-hdspAgent-button"
              disabled={embedded.isBusy}
              onClick={() => void run()}
            >
              {label}
            </button>
          ))}
      </ModelCard>
    </li>
  );
}

/**
 * The model's process, and what was measured of it.
 */
function Running({ list }: { list: LocalModelList }): JSX.Element {
  const { model, trans } = useSettings();
  const { runtime, models } = list;
  const name =
    models.find(({ id }) => id === runtime.model)?.name ?? runtime.model;
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('On this machine')}</legend>
      {name !== undefined && <p className="jp-hdspSettings-label">{name}</p>}
      <RuntimeFacts embedded={model.embedded} trans={trans} />
    </fieldset>
  );
}
