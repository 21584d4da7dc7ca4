import * as React from 'react';

import type {
  ConnectProgramView,
  ConnectSnippetView,
  ConnectWayView,
  McpServerView
} from '../../generated/rest';
import { CopyText } from '../sections/copytext';
import { useSettings } from '../settingscontext';
import { snippetText, wayText } from './otheragentstexts';

/**
 * What to paste where, so that a program connects.
 */
export function ConnectGuide({ view }: { view: McpServerView }): JSX.Element {
  const { trans } = useSettings();
  const id = React.useId();
  const { programs } = view;
  const [chosen, choose] = React.useState(programs[0]?.id);
  const program = programs.find(one => one.id === chosen) ?? programs[0];
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Connect an agent')}</legend>
      <div className="jp-hdspSettings-field">
        <div className="jp-hdspSettings-fieldHead">
          <label className="jp-hdspSettings-label" htmlFor={id}>
            {trans.__('Program')}
          </label>
        </div>
        <select
          id={id}
          className="jp-hdspSettings-input"
          value={program?.id}
          onChange={event => choose(event.target.value)}
        >
          {programs.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {program && <Program key={program.id} program={program} view={view} />}
    </fieldset>
  );
}

function Program({
  program,
  view
}: {
  program: ConnectProgramView;
  view: McpServerView;
}): JSX.Element | null {
  const { trans } = useSettings();
  const { name, ways } = program;
  const group = React.useId();
  const [kind, setKind] = React.useState(ways[0]?.kind);
  const way = ways.find(one => one.kind === kind) ?? ways[0];
  if (way === undefined) {
    return null;
  }
  return (
    <>
      {ways.length > 1 && (
        <div
          role="radiogroup"
          aria-labelledby={group}
          className="jp-hdspSettings-field jp-hdspSettings-radios"
        >
          <div id={group} className="jp-hdspSettings-label">
            {trans.__('Where does %1 run?', name)}
          </div>
          {ways.map(one => (
            <label key={one.kind} className="jp-hdspSettings-check">
              <input
                type="radio"
                name={group}
                checked={one.kind === way.kind}
                onChange={() => setKind(one.kind)}
              />
              <span>{wayText(one.kind, trans)}</span>
            </label>
          ))}
        </div>
      )}
      <Way name={name} way={way} view={view} />
    </>
  );
}

function Way({
  name,
  way: { kind, snippets },
  view
}: {
  name: string;
  way: ConnectWayView;
  view: McpServerView;
}): JSX.Element {
  const { trans } = useSettings();
  const [first, ...others] = snippets;
  return (
    <>
      {first && <Snippet snippet={first} />}
      {others.length > 0 && (
        <details
          className="jp-hdspSettings-advanced"
          aria-label={trans.__('Another way')}
        >
          <summary>{trans.__('Another way')}</summary>
          {others.map((snippet, index) => (
            <Snippet key={index} snippet={snippet} />
          ))}
        </details>
      )}
      {kind === 'local' ? (
        <p className="jp-hdspSettings-description">
          {trans.__(
            'Then start %1 in %2 or a folder inside it. It needs no token.',
            name,
            view.folder
          )}
        </p>
      ) : (
        <TokenNote view={view} />
      )}
    </>
  );
}

function Snippet({ snippet }: { snippet: ConnectSnippetView }): JSX.Element {
  const { trans } = useSettings();
  const { file, text } = snippet;
  return (
    <>
      <p>{snippetText(snippet, trans)}</p>
      <CopyText
        text={text}
        label={file ?? trans.__('Command for the terminal')}
      />
    </>
  );
}

/**
 * Where the token is from that a program on another machine sends.
 */
function TokenNote({ view }: { view: McpServerView }): JSX.Element {
  const { trans } = useSettings();
  const { hub, hubScope, hubTokenUrl, tokenVariable } = view;
  return (
    <p className="jp-hdspSettings-description">
      {trans.__(
        'Set the environment variable %1 to your token before you start it.',
        tokenVariable
      )}{' '}
      {hub && hubTokenUrl !== undefined ? (
        <>
          <a
            className="jp-hdspSettings-link"
            href={hubTokenUrl}
            target="_blank"
            rel="noopener noreferrer"
          >
            {trans.__('Make a token in JupyterHub')}
          </a>{' '}
          {hubScope !== undefined &&
            trans.__('Give it the scope %1.', hubScope)}
        </>
      ) : (
        trans.__(
          'The command “jupyter server list” shows it in the address of this server.'
        )
      )}
    </p>
  );
}
