import * as React from 'react';

import type { Command, Source } from '../../generated/wire';
import { useSettings } from '../settingscontext';
import type { CommandsData } from '../data/modesdata';
import { slashCommandDetail } from '../../ui/texts/slashcommands';
import { TextBox } from '../../ui/controls/textbox';
import { FormButtons } from './formbuttons';
import { ItemAction, ItemActions } from './itemactions';
import { SectionProblem } from './sectionproblem';

/**
 * What is written: a new command, or one that is there.
 */
interface IDraft {
  readonly name: string;
  readonly source: Source;
  readonly content: string;
  readonly isNew: boolean;
}

/**
 * The slash commands there are: a person's own, and those of the folder they
 * work in, can be made, changed and deleted.
 */
export function CommandsSection({
  commands
}: {
  commands: CommandsData;
}): JSX.Element {
  const { trans } = useSettings();
  const [draft, setDraft] = React.useState<IDraft | null>(null);
  React.useEffect(() => void commands.refresh(), [commands]);
  const problem = commands.error ?? commands.loadError;
  const edit = async (name: string, source: Source) => {
    const content = await commands.file(name, source);
    if (content !== null) {
      setDraft({ name, source, content, isNew: false });
    }
  };
  return (
    <>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'A slash command is a prompt you use often. Type / and its name in a message to use it.'
        )}
      </p>
      <SectionProblem error={problem} />
      <ul className="jp-hdspSettings-profiles">
        {(commands.value ?? []).map(command => (
          <CommandItem
            key={`${command.source}:${command.name}`}
            command={command}
            commands={commands}
            onEdit={source => void edit(command.name, source)}
          />
        ))}
      </ul>
      {draft ? (
        <CommandForm
          key={`${draft.source}:${draft.name}`}
          commands={commands}
          start={draft}
          onClose={() => setDraft(null)}
        />
      ) : (
        <button
          type="button"
          className="jp-hdspSettings-button"
          onClick={() =>
            setDraft({ name: '', source: 'global', content: '', isNew: true })
          }
        >
          {trans.__('New command…')}
        </button>
      )}
    </>
  );
}

function CommandItem({
  command,
  commands,
  onEdit
}: {
  command: Command;
  commands: CommandsData;
  onEdit: (source: Source) => void;
}): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const { name, source, filePath } = command;
  const remove = async (from: Source) => {
    const sure = await dialogs.confirm({
      title: trans.__('Delete the command /%1?', name),
      body: trans.__('This deletes the file %1.', filePath ?? name),
      accept: trans.__('Delete command')
    });
    if (sure && (await commands.delete(name, from))) {
      announce(trans.__('The command /%1 was deleted.', name));
    }
  };
  return (
    <li className="jp-hdspSettings-profile" data-command={name}>
      <span className="jp-hdspSettings-profileName" title={filePath}>
        <span>/{name}</span>
        {source === 'project' && (
          <span className="jp-hdspSettings-badge">
            {trans.__('From this folder')}
          </span>
        )}
        {source === 'team' && (
          <span className="jp-hdspSettings-badge">
            {trans.__('From your team')}
          </span>
        )}
        {source === 'global' && (
          <span className="jp-hdspSettings-badge">{trans.__('Yours')}</span>
        )}
        <span className="jp-hdspSettings-about" dir="auto">
          {slashCommandDetail(command, trans)}
        </span>
      </span>
      {(source === 'global' || source === 'project') && (
        <ItemActions name={`/${name}`}>
          <ItemAction
            label={trans.__('Edit')}
            about={trans.__('Edit “%1”', `/${name}`)}
            onClick={() => onEdit(source)}
          />
          <ItemAction
            label={trans.__('Delete…')}
            about={trans.__('Delete “%1”…', `/${name}`)}
            onClick={() => remove(source)}
          />
        </ItemActions>
      )}
    </li>
  );
}

function CommandForm({
  commands,
  start,
  onClose
}: {
  commands: CommandsData;
  start: IDraft;
  onClose: () => void;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const [{ name, source, content, isNew }, setDraft] = React.useState(start);
  const change = (part: Partial<IDraft>) =>
    setDraft(draft => ({ ...draft, ...part }));
  const save = async () => {
    const command = name.trim().replace(/^\//, '');
    if (await commands.save(command, source, content, isNew)) {
      announce(trans.__('The command /%1 was saved.', command));
      onClose();
    }
  };
  const id = React.useId();
  return (
    <form
      className="jp-hdspSettings-form"
      aria-label={
        isNew ? trans.__('New command') : trans.__('The command /%1', name)
      }
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      {isNew && (
        <>
          <TextBox
            label={trans.__('Name')}
            hint={trans.__('Letters, digits, dots, hyphens and underscores.')}
            value={name}
            required
            onChange={value => change({ name: value })}
          />
          <div className="jp-hdspSettings-field">
            <label className="jp-hdspSettings-label" htmlFor={id}>
              {trans.__('Where you can use it')}
            </label>
            <select
              id={id}
              className="jp-hdspSettings-input"
              value={source}
              onChange={event =>
                change({ source: event.target.value as Source })
              }
            >
              <option value="global">{trans.__('Everywhere')}</option>
              <option value="project">{trans.__('In this folder')}</option>
            </select>
          </div>
        </>
      )}
      <TextBox
        label={trans.__('Prompt')}
        hint={trans.__(
          'Markdown. $ARGUMENTS stands for what you type after the name. A description, argument-hint, mode and cell (its name in the menus of cells) can go first, between two lines of ---.'
        )}
        rows={10}
        value={content}
        required
        onChange={value => change({ content: value })}
      />
      <FormButtons isBusy={commands.isBusy} onCancel={onClose} />
    </form>
  );
}
