import * as React from 'react';

import type { McpImportBody } from '../../generated/rest';
import { TextBox } from '../../ui/controls/textbox';
import { listText } from '../../ui/texts/listtext';
import type { McpServersData } from '../data/mcpserversdata';
import { FormButtons } from '../sections/formbuttons';
import { useSettings } from '../settingscontext';
import type { INewServer, NewServerKind } from './newserver';
import { EMPTY, importBody, isBareEntry, isComplete } from './newserver';

const EXAMPLE = `{
  "mcpServers": {
    "files": { "command": "uvx", "args": ["mcp-server-files", "."] }
  }
}`;

/**
 * Adds servers: pasted as other programs have them, or filled in.
 */
export function AddServer({
  servers,
  onClose
}: {
  servers: McpServersData;
  onClose: () => void;
}): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const [server, setServer] = React.useState(EMPTY);
  const [keepsSecrets, setKeepsSecrets] = React.useState(false);
  const change = (part: Partial<INewServer>) =>
    setServer(before => ({ ...before, ...part }));
  const hasNoKeyring = servers.error?.code === 'secret_storage_unavailable';
  const add = async (body: McpImportBody): Promise<void> => {
    const added = await servers.add(body);
    if (added) {
      announce(
        trans.__(
          'Added: %1',
          listText([...added.added, ...added.replaced], trans)
        )
      );
      onClose();
    } else if (servers.error?.code === 'conflict' && !body.replace) {
      const sure = await dialogs.confirm({
        title: trans.__('Replace the server?'),
        body: trans.__('There is already a server of this name.'),
        accept: trans.__('Replace')
      });
      if (sure) {
        await add({ ...body, replace: true });
      }
    }
  };
  return (
    <form
      className="jp-hdspSettings-form"
      aria-label={trans.__('Add a server')}
      onSubmit={event => {
        event.preventDefault();
        if (isComplete(server)) {
          void add({
            ...importBody(server),
            replace: false,
            keepSecretsInFile: hasNoKeyring && keepsSecrets
          });
        }
      }}
    >
      <KindChoice kind={server.kind} onKind={kind => change({ kind })} />
      {(server.kind !== 'paste' || isBareEntry(server.json)) && (
        <TextBox
          label={trans.__('Name')}
          value={server.name}
          required
          onChange={name => change({ name })}
        />
      )}
      {server.kind === 'paste' && (
        <TextBox
          label={trans.__('Configuration (JSON)')}
          hint={trans.__(
            'As Claude Code, Cursor or VS Code have it. For example: %1',
            EXAMPLE.replace(/\s+/g, ' ')
          )}
          rows={8}
          value={server.json}
          required
          onChange={json => change({ json })}
        />
      )}
      {server.kind === 'command' && (
        <CommandFields server={server} change={change} />
      )}
      {server.kind === 'address' && (
        <AddressFields server={server} change={change} />
      )}
      {hasNoKeyring && (
        <label className="jp-hdspSettings-check">
          <input
            type="checkbox"
            checked={keepsSecrets}
            onChange={event => setKeepsSecrets(event.target.checked)}
          />
          <span>
            {trans.__(
              'Keep the keys in the file. Whoever can read your files can read them.'
            )}
          </span>
        </label>
      )}
      <p className="jp-hdspSettings-warning">
        {trans.__(
          'A server is a program that can do what you can. Add only servers you trust.'
        )}
      </p>
      <FormButtons isBusy={servers.isBusy} onCancel={onClose} />
    </form>
  );
}

function KindChoice({
  kind,
  onKind
}: {
  kind: NewServerKind;
  onKind: (kind: NewServerKind) => void;
}): JSX.Element {
  const { trans } = useSettings();
  const name = React.useId();
  const choices: readonly (readonly [NewServerKind, string])[] = [
    ['paste', trans.__('Paste a configuration')],
    ['command', trans.__('A program on this machine')],
    ['address', trans.__('A server on the network')]
  ];
  return (
    <div
      role="radiogroup"
      aria-label={trans.__('How to add it')}
      className="jp-hdspSettings-field jp-hdspSettings-radios"
    >
      {choices.map(([one, label]) => (
        <label key={one} className="jp-hdspSettings-check">
          <input
            type="radio"
            name={name}
            checked={kind === one}
            onChange={() => onKind(one)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}

interface IFieldsProps {
  readonly server: INewServer;
  readonly change: (part: Partial<INewServer>) => void;
}

function CommandFields({ server, change }: IFieldsProps): JSX.Element {
  const { trans } = useSettings();
  return (
    <>
      <TextBox
        label={trans.__('Command')}
        value={server.command}
        required
        onChange={command => change({ command })}
      />
      <TextBox
        label={trans.__('Arguments')}
        hint={trans.__('One per line.')}
        rows={3}
        value={server.args}
        onChange={args => change({ args })}
      />
      <TextBox
        label={trans.__('Environment variables')}
        hint={trans.__(
          'NAME=value, one per line. Keys are kept in the keyring.'
        )}
        rows={3}
        value={server.env}
        onChange={env => change({ env })}
      />
    </>
  );
}

function AddressFields({ server, change }: IFieldsProps): JSX.Element {
  const { trans } = useSettings();
  return (
    <>
      <TextBox
        label={trans.__('Address (URL)')}
        value={server.url}
        required
        onChange={url => change({ url })}
      />
      <TextBox
        label={trans.__('Headers')}
        hint={trans.__(
          'Name: value, one per line. Keys are kept in the keyring. If the server has a sign-in page, leave this empty.'
        )}
        rows={3}
        value={server.headers}
        onChange={headers => change({ headers })}
      />
    </>
  );
}
