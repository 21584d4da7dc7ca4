import * as React from 'react';

import { errorText } from '../../errors';
import type { LocalModelList, LocalModelView } from '../../generated/rest';
import { fullCount } from '../../ui/texts/formats';
import { DownloadProgress } from '../../panel/localmodel/downloadprogress';
import {
  bytesText,
  canText,
  limitsText,
  privacyText,
  speedText,
  stateText
} from '../../panel/localmodel/localmodeltexts';

import { useSettings } from '../settingscontext';
import { OwnModelFile } from './ownmodelfile';
import { ItemAction, ItemActions } from './itemactions';
import { SectionProblem } from './sectionproblem';

/**
 * The embedded models: which there are, getting and deleting one, and the one that runs.
 */
export function EmbeddedSection(): JSX.Element {
  const { model, trans } = useSettings();
  const { embedded } = model;
  React.useEffect(() => void embedded.refresh(), [embedded]);
  const list = embedded.value;
  const problem = embedded.error ?? embedded.loadError;
  return (
    <>
      <p className="jp-hdspSettings-description">{privacyText(trans)}</p>
      <p className="jp-hdspSettings-description">
        {trans.__('What they can do: %1', canText(trans))}
      </p>
      <p className="jp-hdspSettings-description">
        {trans.__('Their limits: %1', limitsText(trans))}
      </p>
      <SectionProblem error={problem} />
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
          {list.installed && <OwnModelFile />}
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
          <ModelItem key={one.id} one={one} list={list} />
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
  list
}: {
  one: LocalModelView;
  list: LocalModelList;
}): JSX.Element {
  const { model, trans } = useSettings();
  const { embedded } = model;
  const failure = one.state === 'getting' ? undefined : one.failure;
  return (
    <li aria-label={one.name}>
      <div className="jp-hdspSettings-embeddedHead">
        <span className="jp-hdspSettings-label">{one.name}</span>
        <span className="jp-hdspSettings-badge">{presenceText()}</span>
        {one.isDefault && (
          <span className="jp-hdspSettings-badge">
            {trans.__('Recommended')}
          </span>
        )}
      </div>
      <p className="jp-hdspSettings-about">
        {trans.__(
          '%1 on disk, about %2 of memory, a context window of %3 tokens',
          bytesText(one.size, trans),
          bytesText(one.memory, trans),
          fullCount(one.context)
        )}
        {' · '}
        <a
          className="jp-hdspSettings-link"
          href={one.licenceUrl}
          target="_blank"
          rel="noopener noreferrer"
        >
          {trans.__('License: %1', one.licence)}
        </a>
      </p>
      {one.state === 'getting' && (
        <DownloadProgress model={one} pace={embedded.pace} trans={trans} />
      )}
      <SectionProblem error={failure} />
      <ModelActions one={one} list={list} />
    </li>
  );

  function presenceText(): string {
    switch (one.state) {
      case 'ready':
        return trans.__('On this machine');
      case 'getting':
        return trans.__('Downloading');
      case 'partial':
        return trans.__(
          '%1 of %2 are here',
          bytesText(one.done, trans),
          bytesText(one.size, trans)
        );
      case 'absent':
        return trans.__('Not on this machine');
    }
  }
}

function ModelActions({
  one,
  list
}: {
  one: LocalModelView;
  list: LocalModelList;
}): JSX.Element {
  const { model, trans, dialogs, announce } = useSettings();
  const { embedded, profiles } = model;
  const { name } = one;
  const size = bytesText(one.size, trans);
  const get = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Download %1?', name),
      body: trans.__(
        'This downloads %1 to this machine. The license is %2 (%3).',
        size,
        one.licence,
        one.licenceUrl
      ),
      accept: trans.__('Accept and download')
    });
    if (sure) {
      await embedded.get(one);
    }
  };
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Delete %1?', name),
      body: trans.__(
        'This frees %1. Profiles that use the model stay, and you can download it again.',
        bytesText(one.done, trans)
      ),
      accept: trans.__('Delete model')
    });
    if (sure) {
      await embedded.remove(one);
    }
  };
  const use = async () => {
    if (await embedded.use({ model: one.id })) {
      await profiles.refresh();
      announce(trans.__('New conversations use %1.', name));
    }
  };
  const buttons: {
    label: string;
    isShown: boolean;
    run: () => Promise<unknown>;
  }[] = [
    {
      label:
        one.state === 'partial' ? trans.__('Continue…') : trans.__('Download…'),
      isShown: one.state === 'absent' || one.state === 'partial',
      run: get
    },
    {
      label: trans.__('Cancel'),
      isShown: one.state === 'getting',
      run: () => embedded.cancel(one)
    },
    {
      label: trans.__('Use'),
      isShown: one.state === 'ready' && list.installed,
      run: use
    },
    {
      label: trans.__('Try it here'),
      isShown: one.state === 'ready' && list.installed,
      run: () => embedded.try({ model: one.id })
    },
    {
      label: trans.__('Delete…'),
      isShown: one.state === 'ready' || one.state === 'partial',
      run: remove
    }
  ];
  return (
    <ItemActions name={name}>
      {buttons
        .filter(({ isShown }) => isShown)
        .map(({ label, run }) => (
          <ItemAction
            key={label}
            label={label}
            disabled={embedded.isBusy}
            onClick={run}
          />
        ))}
    </ItemActions>
  );
}

/**
 * The model's process, and what was measured of it.
 */
function Running({ list }: { list: LocalModelList }): JSX.Element {
  const { model, trans } = useSettings();
  const { embedded } = model;
  const { runtime, models } = list;
  const named = models.find(({ id }) => id === runtime.model)?.name;
  const speed = speedText(runtime, trans);
  const { failure, restartedAfter } = runtime;
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('On this machine')}</legend>
      {(named ?? runtime.model) !== undefined && (
        <p className="jp-hdspSettings-label">{named ?? runtime.model}</p>
      )}
      <p role="status">
        {embedded.isBusy ? trans.__('One moment…') : stateText(runtime, trans)}
      </p>
      {speed !== '' && <p>{speed}</p>}
      {runtime.startSeconds !== undefined && (
        <p>
          {trans.__(
            'Its last start took %1 seconds.',
            fullCount(Math.round(runtime.startSeconds * 10) / 10)
          )}
        </p>
      )}
      {failure && (
        <p className="jp-hdspSettings-error">{errorText(trans, failure)}</p>
      )}
      {!failure && restartedAfter && (
        <p className="jp-hdspSettings-warning">
          {trans.__(
            'It was restarted after this: %1',
            errorText(trans, restartedAfter)
          )}
        </p>
      )}
      {runtime.state === 'ready' && (
        <button
          type="button"
          className="jp-hdspSettings-button"
          disabled={embedded.isBusy}
          onClick={() => void embedded.release()}
        >
          {trans.__('Free its memory')}
        </button>
      )}
    </fieldset>
  );
}
