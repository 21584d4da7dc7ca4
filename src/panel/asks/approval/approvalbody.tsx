import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import { ProblemNote } from '../../../ui/controls/problemnote';
import { Select } from '../../../ui/controls/select';
import { isConnected } from '../../../state/externalagent';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';
import { useActionQueue } from '../../../ui/useaction';
import AutoApproveBody from '../autoapproval/autoapprovebody';
import type { ApprovalPreset, ApprovalScope, IApprovals } from './approvals';
import { PRESETS, dropChoice, choosePreset } from './approvals';
import { approvalsText, presetTexts, scopeText } from './approvaltexts';
import { useApprovals } from './useapprovals';

/**
 * Go to another preset with the arrows, and choose it only with Space or Enter:
 * on the way from one to another nobody allows what lies between.
 */
function onPresetKey(event: React.KeyboardEvent<HTMLElement>): void {
  const target = event.target as HTMLInputElement;
  if (target.type !== 'radio') {
    return;
  }
  if (event.key === 'Enter') {
    event.preventDefault();
    target.click();
    return;
  }
  const step = STEPS[event.key];
  if (step === undefined) {
    return;
  }
  event.preventDefault();
  const all = [
    ...event.currentTarget.querySelectorAll<HTMLInputElement>('[type="radio"]')
  ];
  all.at((all.indexOf(target) + step) % all.length)?.focus();
}

const STEPS: Partial<Record<string, 1 | -1>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1
};

/**
 * Where a choice may hold.
 *
 * @param isHere - Whether the other agent is connected, if it is one's.
 */
function scopesOf(
  { agent, notebook }: IApprovals,
  isHere: boolean
): readonly ApprovalScope[] {
  return agent !== undefined
    ? isHere
      ? ['conversation', 'program']
      : ['conversation']
    : notebook !== null
      ? ['conversation', 'notebook', 'always']
      : ['conversation', 'always'];
}

/**
 * The presets of what the agent does without asking, where the chosen one
 * holds, and what a choice of one's own is made of.
 */
export default function ApprovalBody(): JSX.Element | null {
  const services = usePanel();
  const { store, trans } = services;
  const approvals = useApprovals();
  const isFixed = useStore(
    store,
    ({ state }) => state?.fixed?.includes('autoApprovalEnabled') ?? false
  );
  const [isCustom, setCustom] = React.useState(approvals?.preset === 'custom');
  // What holds always is changed only by whoever says so.
  const [chosenScope, setScope] = React.useState<ApprovalScope | null>(null);
  const isHere = useStore(store, isConnected);
  const { isBusy, error, add } = useActionQueue();
  const id = React.useId();
  if (approvals === null) {
    return null;
  }
  const { agent, notebook } = approvals;
  const place = plainName(agent ?? PathExt.basename(notebook ?? ''));
  const isWide = approvals.scope === 'always' || approvals.scope === 'program';
  const scope = chosenScope ?? (isWide ? 'conversation' : approvals.scope);
  const preset = isCustom ? 'custom' : approvals.preset;
  const choose = (to: ApprovalPreset | 'custom', where: ApprovalScope) => {
    setCustom(to === 'custom');
    void add(() =>
      to === 'custom'
        ? dropChoice(services, notebook)
        : choosePreset(services, to, where, notebook)
    );
  };
  return (
    <div className="jp-hdspAgent-approvals-body" aria-busy={isBusy}>
      <fieldset
        className="jp-hdspAgent-approvals-presets"
        disabled={isFixed}
        onKeyDown={onPresetKey}
      >
        <legend>
          {agent === undefined
            ? trans.__('What may the agent do without asking?')
            : trans.__('What may %1 do without asking?', place)}
        </legend>
        {(agent === undefined
          ? ([...PRESETS, 'custom'] as const)
          : PRESETS
        ).map(one => {
          const { name, meaning } = presetTexts(one, trans);
          return (
            <label key={one} className="jp-hdspAgent-approvals-preset">
              <input
                type="radio"
                name={id}
                checked={preset === one}
                onChange={() => choose(one, scope)}
              />
              <span>
                <strong>{name}</strong>
                <span className="jp-hdspAgent-approvals-meaning">
                  {meaning}
                </span>
              </span>
            </label>
          );
        })}
      </fieldset>
      {isFixed ? (
        <p>{trans.__('Set by your administrator.')}</p>
      ) : preset === 'custom' ? (
        <AutoApproveBody />
      ) : (
        <label className="jp-hdspAgent-approvals-scope">
          <span>{trans.__('Applies to')}</span>
          <Select
            value={scope}
            onChange={({ target }) => {
              const where = target.value as ApprovalScope;
              setScope(where);
              // A choice that was made goes along.
              if (!isWide) {
                choose(preset, where);
              }
            }}
          >
            {scopesOf(approvals, isHere).map(one => (
              <option key={one} value={one}>
                {scopeText(one, place, trans)}
              </option>
            ))}
          </Select>
        </label>
      )}
      {!isFixed && (preset !== 'custom' || approvals.scope !== 'always') && (
        <p>
          {approvalsText(approvals, place, trans)}{' '}
          {approvals.scope !== 'always' && (
            <button
              type="button"
              className="jp-hdspAgent-ask-link"
              onClick={() => void add(() => dropChoice(services, notebook))}
            >
              {trans.__('Use my default')}
            </button>
          )}
        </p>
      )}
      <ProblemNote error={error} />
    </div>
  );
}
