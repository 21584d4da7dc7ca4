import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { VariableChange, VariableView } from '../generated/rest';
import { attachVariable } from '../panel/composer/attachments/attachvariable';
import { dragVariable } from '../panel/composer/attachments/draggedvariable';
import { CommandIDs } from '../ui/commandids';
import { ProblemNote } from '../ui/controls/problemnote';
import { showWarning } from '../ui/notifications';
import { usePanel } from '../ui/services';
import { sizeText } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';
import { useAction } from '../ui/useaction';
import { TablePreview } from './tablepreview';
import { changeText, typeText, valueText } from './variabletexts';

/**
 * How many columns the list has.
 */
const COLUMNS = 4;

/**
 * One variable, and if it is open what it holds and what can be done with it.
 */
export function VariableRow({
  path,
  variable,
  change,
  checkpoint,
  isOpen,
  onOpen
}: {
  readonly path: string;
  readonly variable: VariableView;

  /**
   * How it differs from the checkpoint; `null` if it does not.
   */
  readonly change: VariableChange | null;
  readonly checkpoint: string;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { name, type, memory } = variable;
  const value = valueText(variable, trans);
  const id = React.useId();
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <>
      <tr
        className="jp-hdspAgent-variable"
        data-change={change?.kind}
        draggable
        onDragStart={({ dataTransfer }) =>
          dragVariable(dataTransfer, { path, name })
        }
      >
        <th scope="row">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            title={plainName(name)}
            onClick={() => onOpen(!isOpen)}
          >
            <Caret.react tag="span" aria-hidden="true" width="16px" />
            <span className="jp-hdspAgent-variable-name">
              {plainName(name)}
            </span>
            {change && <Mark kind={change.kind} />}
          </button>
        </th>
        <td title={plainName(type)}>{plainName(typeText(variable))}</td>
        <td title={plainName(value)}>{plainName(value)}</td>
        <td>{memory === undefined ? '' : sizeText(memory, trans)}</td>
      </tr>
      {isOpen && (
        <tr id={id}>
          <td colSpan={COLUMNS} className="jp-hdspAgent-variable-open">
            <Opened
              path={path}
              name={name}
              change={change}
              checkpoint={checkpoint}
            />
          </td>
        </tr>
      )}
    </>
  );
}

/**
 * One that the newest checkpoint has, and the kernel has no more.
 */
export function GoneRow({
  path,
  change: { name, canRestore },
  checkpoint
}: {
  readonly path: string;
  readonly change: VariableChange;
  readonly checkpoint: string;
}): JSX.Element {
  return (
    <tr className="jp-hdspAgent-variable" data-change="gone">
      <th scope="row">
        <span className="jp-hdspAgent-variable-name">{plainName(name)}</span>
        <Mark kind="gone" />
      </th>
      <td colSpan={COLUMNS - 1}>
        {canRestore && (
          <RestoreButton path={path} name={name} checkpoint={checkpoint} />
        )}
      </td>
    </tr>
  );
}

/**
 * That a variable differs from the newest checkpoint: by a sign, and in words.
 */
function Mark({
  kind
}: {
  readonly kind: VariableChange['kind'];
}): JSX.Element {
  const { trans } = usePanel();
  const text = changeText(kind, trans);
  return (
    <span className="jp-hdspAgent-variable-mark" title={text}>
      <span aria-hidden="true">{Private.SIGNS[kind]}</span>
      <span className="jp-hdspAgent-announcement">{text}</span>
    </span>
  );
}

/**
 * What an open variable holds, and what can be done with it.
 */
function Opened({
  path,
  name,
  change,
  checkpoint
}: {
  readonly path: string;
  readonly name: string;
  readonly change: VariableChange | null;
  readonly checkpoint: string;
}): JSX.Element {
  const services = usePanel();
  const { commands, state, trans } = services;
  const { isBusy, error, run } = useAction();
  const warn = (refusal: string | null) =>
    refusal !== null && showWarning(refusal);
  const ask = async () => {
    warn(await attachVariable(services, path, name, null));
    await commands.execute(CommandIDs.ask);
  };
  const attach = async () => {
    warn(await attachVariable(services, path, name));
    state.page = 'chat';
    await commands.execute(CommandIDs.open);
  };
  return (
    <>
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          onClick={() => void run(ask)}
        >
          {trans.__('Ask about this')}
        </button>
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          onClick={() => void run(attach)}
        >
          {trans.__('Add to the message')}
        </button>
        {change?.canRestore && (
          <RestoreButton path={path} name={name} checkpoint={checkpoint} />
        )}
      </div>
      <ProblemNote error={error} />
      <TablePreview path={path} name={name} />
    </>
  );
}

/**
 * Brings a variable back, once one has seen what that does.
 */
function RestoreButton({
  path,
  name,
  checkpoint
}: {
  readonly path: string;
  readonly name: string;
  readonly checkpoint: string;
}): JSX.Element {
  const { commands, trans } = usePanel();
  return (
    <button
      type="button"
      className="jp-hdspAgent-button"
      aria-label={trans.__('Restore %1…', plainName(name))}
      onClick={() =>
        void commands.execute(CommandIDs.restoreVariable, {
          path,
          checkpoint,
          name
        })
      }
    >
      {trans.__('Restore…')}
    </button>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const SIGNS = { added: '+', changed: '●', shared: '◐', gone: '−' };
}
