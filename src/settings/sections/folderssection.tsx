import * as React from 'react';

import type { TrustedFolder, TrustedFoldersView } from '../../generated/rest';
import { listText } from '../../ui/texts/listtext';

import { useSettings } from '../settingscontext';
import { SectionProblem } from './sectionproblem';

/**
 * The folders that somebody has decided about.
 */
export function FoldersSection(): JSX.Element {
  const { model, trans } = useSettings();
  const { folders } = model;
  React.useEffect(() => void folders.refresh(), [folders]);
  const problem = folders.error ?? folders.loadError;
  return (
    <>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'Modes, rules, slash commands, MCP servers and AGENTS.md of a folder are used only if you trust it, and everything inside it.'
        )}
      </p>
      <SectionProblem error={problem} />
      {folders.value && <Operator {...folders.value} />}
      {folders.value && <List folders={folders.value.folders} />}
    </>
  );
}

function Operator({
  workspaceTrust,
  operators
}: TrustedFoldersView): JSX.Element | null {
  const { trans } = useSettings();
  return (
    <>
      {workspaceTrust === 'always' && (
        <p>
          {trans.__('Your administrator trusts every folder on this server.')}
        </p>
      )}
      {workspaceTrust === 'never' && (
        <p>
          {trans.__(
            'Your administrator decides which folders are trusted here.'
          )}
        </p>
      )}
      {operators.length > 0 && (
        <p>
          {trans.__(
            'Trusted by your administrator: %1',
            listText(operators, trans)
          )}
        </p>
      )}
    </>
  );
}

function List({ folders }: { folders: readonly TrustedFolder[] }): JSX.Element {
  const { trans } = useSettings();
  return folders.length === 0 ? (
    <p>{trans.__("You haven't trusted or rejected any folder yet.")}</p>
  ) : (
    <ul className="jp-hdspSettings-folders">
      {folders.map(folder => (
        <Folder key={folder.folder} {...folder} />
      ))}
    </ul>
  );
}

function Folder({ folder, trusted }: TrustedFolder): JSX.Element {
  const { model, trans, announce } = useSettings();
  const forget = async () => {
    if (await model.folders.forget(folder)) {
      announce(trans.__('%1 was removed from the list.', folder));
    }
  };
  return (
    <li>
      <code>{folder}</code>
      <span>{trusted ? trans.__('Trusted') : trans.__('Not trusted')}</span>
      <button
        type="button"
        className="jp-hdspSettings-button"
        aria-label={trans.__('Remove %1', folder)}
        title={trans.__('HDSP Agent will ask about this folder again')}
        disabled={model.folders.isBusy}
        onClick={() => void forget()}
      >
        {trans.__('Remove')}
      </button>
    </li>
  );
}
