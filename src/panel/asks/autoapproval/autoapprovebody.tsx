import * as React from 'react';

import { isComposing } from '../../../ui/inputmethod';
import { settingsText } from '../../../generated/settingsText';
import type { GlobalSettings, JsonValue } from '../../../generated/wire';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { switchAllKinds, switchKind } from './autoapproval';
import type { ApprovedClass } from './approvedclasses';
import { APPROVED_CLASSES, LIMITS } from './approvedclasses';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { useActionQueue } from '../../../ui/useaction';

type Words = ReturnType<typeof settingsText>;

/**
 * What the agent may do without asking: a switch for each kind of action, one
 * for all of it, and how far that goes.
 */
export default function AutoApproveBody(): JSX.Element | null {
  const services = usePanel();
  const { client, openSettings, store, trans } = services;
  const settings = useStore(store, ({ state }) => state?.settings);
  const fixed = useStore(store, ({ state }) => state?.fixed) ?? NONE;
  const words = React.useMemo(() => settingsText(trans), [trans]);
  const { isBusy, error, add } = useActionQueue();
  const [presses, setPresses] = React.useState<readonly IPress[]>([]);
  if (settings === undefined) {
    return null;
  }
  const change = (updatedSettings: Record<string, JsonValue>) =>
    void add(() => client.request({ type: 'updateSettings', updatedSettings }));
  const press = (made: IPress, work: () => Promise<void>) => {
    setPresses(all => [...all, made]);
    void add(work).then(() =>
      setPresses(all => all.filter(one => one !== made))
    );
  };
  const changeKind = (name: ApprovedClass, isOn: boolean) =>
    press({ names: [name], isOn }, () => switchKind(services, name, isOn));
  const changeAll = (isOn: boolean) =>
    press(
      { names: APPROVED_CLASSES.filter(name => !fixed.includes(name)), isOn },
      () => switchAllKinds(services, isOn)
    );
  return (
    <div className="jp-hdspAgent-autoApprove-body" aria-busy={isBusy}>
      <fieldset>
        <legend>{trans.__('Without asking, in all conversations')}</legend>
        <div className="jp-hdspAgent-ask-buttons">
          <button
            type="button"
            className="jp-hdspAgent-ask-link"
            title={trans.__('Let the agent do all of this without asking')}
            onClick={() => changeAll(true)}
          >
            {trans._p('approvals', 'All')}
          </button>
          <button
            type="button"
            className="jp-hdspAgent-ask-link"
            onClick={() => changeAll(false)}
          >
            {trans._p('approvals', 'None')}
          </button>
        </div>
        {APPROVED_CLASSES.map(name => (
          <Switch
            key={name}
            {...{ name, settings, fixed, words }}
            pressed={presses.filter(({ names }) => names.includes(name)).at(-1)}
            change={isOn => changeKind(name, isOn)}
          />
        ))}
        {LIMITS.map(name => (
          <Limit key={name} {...{ name, settings, fixed, words, change }} />
        ))}
      </fieldset>
      <ProblemNote error={error} />
      <button
        type="button"
        className="jp-hdspAgent-ask-link"
        onClick={() => openSettings('approvals')}
      >
        {trans.__('Allowed and denied commands')}
      </button>
    </div>
  );
}

/**
 * A press that is not saved yet.
 */
interface IPress {
  readonly names: readonly ApprovedClass[];
  readonly isOn: boolean;
}

interface ISettingProps<Name> {
  readonly name: Name;
  readonly settings: GlobalSettings;
  readonly fixed: readonly string[];
  readonly words: Words;
}

function Switch({
  name,
  settings,
  fixed,
  words,
  change,
  pressed
}: ISettingProps<ApprovedClass> & {
  readonly change: (isOn: boolean) => void;

  /** What was pressed last and is not saved yet. */
  readonly pressed: IPress | undefined;
}): JSX.Element {
  const { trans } = usePanel();
  const isFixed = fixed.includes(name);
  return (
    <label
      className="jp-hdspAgent-autoApprove-switch"
      title={words[name]?.description}
    >
      <input
        type="checkbox"
        // With the main switch off nothing is done without asking, whatever is set.
        checked={
          pressed?.isOn ?? (settings.autoApprovalEnabled && settings[name])
        }
        disabled={isFixed}
        onChange={({ target }) => change(target.checked)}
      />
      <span>{words[name]?.title ?? name}</span>
      {isFixed && (
        <span className="jp-hdspAgent-ask-badge">
          {trans.__('Set by your administrator')}
        </span>
      )}
    </label>
  );
}

function Limit({
  name,
  settings,
  fixed,
  words,
  change
}: ISettingProps<(typeof LIMITS)[number]> & {
  readonly change: (values: Record<string, JsonValue>) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const saved = settings[name];
  const [typed, setTyped] = React.useState<string | null>(null);
  const isFixed = fixed.includes(name);
  const commit = () => {
    const text = (typed ?? '').trim();
    const value = text === '' ? null : Number(text);
    if (typed !== null && value !== (saved ?? null)) {
      change({ [name]: value });
    }
    setTyped(null);
  };
  return (
    <label
      className="jp-hdspAgent-autoApprove-limit"
      title={words[name]?.description}
    >
      <span>{words[name]?.title ?? name}</span>
      <input
        type="number"
        className="jp-hdspAgent-input jp-hdspAgent-ask-field"
        min={0}
        step={name === 'allowedMaxCost' ? 'any' : 1}
        placeholder={trans.__('no limit')}
        value={typed ?? saved ?? ''}
        disabled={isFixed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={commit}
        onKeyDown={({ key, nativeEvent }) => {
          if (key === 'Enter' && !isComposing(nativeEvent)) {
            commit();
          }
        }}
      />
    </label>
  );
}

const NONE: readonly string[] = [];
