import type { NotebookPanel } from '@jupyterlab/notebook';
import {
  addBelowIcon,
  editIcon,
  fileIcon,
  runIcon
} from '@jupyterlab/ui-components';
import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { asErrorBody, errorText } from '../../errors';
import { usePanel } from '../services';
import { CopyButton } from '../controls/copybutton';
import { IconButton } from '../controls/iconbutton';
import type { CellObstacle, CodeAction } from './codetocell';
import { obstacleTo, insertCode } from './codetocell';

/**
 * The buttons of a piece of code.
 */
export function CodeTools({
  code,
  language
}: {
  code: string;
  language: string;
}): JSX.Element {
  const { commands, notebooks, trans } = usePanel();
  const [problem, setProblem] = React.useState<string | null>(null);
  const notebook = useNotebookInFront();
  const isFileInFront = useFileInFront();
  const use = async (use: CodeAction) => {
    const panel = notebooks?.currentWidget;
    setProblem(null);
    if (panel && obstacleTo(use, panel) === null) {
      try {
        await insertCode(use, panel, code, language);
      } catch (reason) {
        setProblem(errorText(trans, asErrorBody(reason)));
      }
    }
  };
  const button = (id: CodeAction, label: string, icon: LabIcon) => (
    <UseButton
      label={label}
      icon={icon}
      obstacle={obstacleTo(id, notebook)}
      onClick={() => void use(id)}
    />
  );
  return (
    <>
      <div
        className="jp-hdspAgent-code-bar"
        role="group"
        aria-label={trans.__('Code: %1', firstLine(code))}
      >
        <span className="jp-hdspAgent-code-language">{language}</span>
        <CopyButton text={code} label={trans.__('Copy this code')} />
        {button('insert', trans.__('Insert as a new cell below'), addBelowIcon)}
        {button('replace', trans.__('Replace the active cell'), editIcon)}
        {button('run', trans.__('Insert as a new cell and run it'), runIcon)}
        {isFileInFront && (
          <IconButton
            icon={fileIcon}
            label={trans.__('Insert into the open file')}
            onClick={() =>
              void commands.execute(REPLACE_SELECTION, { text: code })
            }
          />
        )}
      </div>
      {problem && (
        <div className="jp-hdspAgent-chat-trouble" role="alert">
          {problem}
        </div>
      )}
    </>
  );
}

/**
 * The first words of a code, which tell it from others.
 */
function firstLine(code: string): string {
  return code.trim().split('\n')[0].slice(0, LONGEST_NAME);
}

/**
 * A button that can be reached, and says why it does nothing, when it does
 * nothing.
 */
function UseButton({
  label,
  icon,
  obstacle,
  onClick
}: {
  label: string;
  icon: LabIcon;
  obstacle: CellObstacle | null;
  onClick: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const why = {
    'no-notebook': trans.__('Open a notebook first.'),
    'read-only': trans.__('This cell cannot be changed.')
  };
  return (
    <IconButton
      icon={icon}
      label={label}
      aria-disabled={obstacle !== null}
      aria-description={obstacle ? why[obstacle] : undefined}
      title={obstacle ? trans.__('%1 — %2', label, why[obstacle]) : label}
      onClick={obstacle ? undefined : onClick}
    />
  );
}

/**
 * Lab's command that puts a text at the cursor of the file in front.
 */
/**
 * How much of a code is its name.
 */
const LONGEST_NAME = 60;

const REPLACE_SELECTION = 'fileeditor:replace-selection';

/**
 * Whether a file that can be edited is in front.
 */
function useFileInFront(): boolean {
  const { commands } = usePanel();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      commands.commandChanged.connect(listener);
      return () => void commands.commandChanged.disconnect(listener);
    },
    [commands]
  );
  return React.useSyncExternalStore(
    subscribe,
    () =>
      commands.hasCommand(REPLACE_SELECTION) &&
      commands.isEnabled(REPLACE_SELECTION)
  );
}

/**
 * The notebook the person worked in last.
 */
function useNotebookInFront(): NotebookPanel | null {
  const { notebooks } = usePanel();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      notebooks?.currentChanged.connect(listener);
      return () => void notebooks?.currentChanged.disconnect(listener);
    },
    [notebooks]
  );
  return React.useSyncExternalStore(
    subscribe,
    () => notebooks?.currentWidget ?? null
  );
}
