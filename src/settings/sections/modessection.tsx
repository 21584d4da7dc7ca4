import * as React from 'react';

import type { ModeConfig } from '../../generated/wire';
import { useSettings } from '../settingscontext';
import { modeName } from '../../ui/texts/modenames';
import { ModeForm } from './modeform';
import type { ModesData } from '../data/modesdata';
import { saveFile } from '../../ui/savefile';
import { FileButton } from './filebutton';
import { ItemAction, ItemActions } from './itemactions';
import { SectionProblem } from './sectionproblem';

/**
 * The modes there are: a person's own can be made, changed and carried
 * elsewhere, and what the others are told can be changed.
 */
export function ModesSection({ modes }: { modes: ModesData }): JSX.Element {
  const { trans } = useSettings();
  const [edited, setEdited] = React.useState<string | null>(null);
  const [isNew, setNew] = React.useState(false);
  React.useEffect(() => void modes.refresh(), [modes]);
  const problem = modes.error ?? modes.loadError;
  const close = () => {
    setEdited(null);
    setNew(false);
  };
  return (
    <>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'A mode is a role with its own instructions and tools. Create your own modes, or change the instructions of the others.'
        )}
      </p>
      <SectionProblem error={problem} />
      <ul className="jp-hdspSettings-profiles">
        {(modes.value ?? []).map(mode => (
          <ModeItem
            key={mode.slug}
            mode={mode}
            modes={modes}
            isOpen={edited === mode.slug}
            onEdit={() => {
              setNew(false);
              setEdited(edited === mode.slug ? null : mode.slug);
            }}
            onClose={close}
          />
        ))}
      </ul>
      {isNew ? (
        <ModeForm modes={modes} mode={null} onClose={close} />
      ) : (
        <div className="jp-hdspSettings-actions">
          <button
            type="button"
            className="jp-hdspSettings-button"
            onClick={() => {
              setEdited(null);
              setNew(true);
            }}
          >
            {trans.__('New mode…')}
          </button>
          <ImportMode modes={modes} />
        </div>
      )}
    </>
  );
}

function ModeItem(props: {
  mode: ModeConfig;
  modes: ModesData;
  isOpen: boolean;
  onEdit: () => void;
  onClose: () => void;
}): JSX.Element {
  const { mode, modes, isOpen } = props;
  const { model, trans, dialogs, announce } = useSettings();
  const [prompt, setPrompt] = React.useState<string | null>(null);
  const own = model.settings.value?.settings.customModes ?? [];
  const isOwn = own.some(({ slug }) => slug === mode.slug);
  const name = modeName(trans, mode.slug, own, mode.name);
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Delete the mode “%1”?', name),
      body: trans.__(
        'Export it first to keep a copy. Rules files for this mode stay where they are.'
      ),
      accept: trans.__('Delete mode')
    });
    if (sure && (await modes.delete(mode.slug))) {
      announce(trans.__('The mode “%1” was deleted.', name));
    }
  };
  const save = async () => {
    const text = await modes.export(mode.slug);
    if (text !== null) {
      saveFile(`${mode.slug}-mode.yaml`, text, 'application/yaml');
    }
  };
  const show = async () =>
    setPrompt(prompt === null ? await modes.prompt(mode.slug) : null);
  return (
    <li className="jp-hdspSettings-ownMode" data-mode={mode.slug}>
      <div className="jp-hdspSettings-profile" data-open={isOpen}>
        <span className="jp-hdspSettings-profileName">
          <span dir="auto">{name}</span>
          {isOwn && (
            <span className="jp-hdspSettings-badge">{trans.__('Yours')}</span>
          )}
          {mode.source === 'project' && (
            <span className="jp-hdspSettings-badge">
              {trans.__('From this folder')}
            </span>
          )}
          {mode.source === 'team' && (
            <span className="jp-hdspSettings-badge">
              {trans.__('From your team')}
            </span>
          )}
          <span className="jp-hdspSettings-about" dir="auto">
            {mode.description ?? mode.slug}
          </span>
        </span>
        <ItemActions name={name}>
          {mode.source !== 'project' && mode.source !== 'team' && (
            <ItemAction
              label={trans.__('Edit')}
              about={trans.__('Edit “%1”', name)}
              isExpanded={isOpen}
              onClick={props.onEdit}
            />
          )}
          <ItemAction
            label={trans.__('System prompt')}
            about={trans.__('Show the system prompt of “%1”', name)}
            isExpanded={prompt !== null}
            onClick={show}
          />
          <ItemAction
            label={trans.__('Export')}
            about={trans.__('Export “%1”', name)}
            onClick={save}
          />
          {isOwn && (
            <ItemAction
              label={trans.__('Delete…')}
              about={trans.__('Delete “%1”…', name)}
              onClick={remove}
            />
          )}
        </ItemActions>
      </div>
      {isOpen && (
        <ModeForm
          modes={modes}
          mode={mode}
          isOwn={isOwn}
          onClose={props.onClose}
        />
      )}
      {prompt !== null && (
        <pre
          className="jp-hdspSettings-prompt"
          dir="auto"
          tabIndex={0}
          aria-label={trans.__('The system prompt of “%1”', name)}
        >
          {prompt}
        </pre>
      )}
    </li>
  );
}

function ImportMode({ modes }: { modes: ModesData }): JSX.Element {
  const { trans, announce } = useSettings();
  const take = async (file: File) => {
    const slug = await modes.import(await file.text());
    if (slug !== null) {
      announce(trans.__('The mode “%1” was imported.', slug));
    }
  };
  return (
    <FileButton
      label={trans.__('Import a mode…')}
      accept=".yaml,.yml,.json"
      onFile={take}
    />
  );
}
