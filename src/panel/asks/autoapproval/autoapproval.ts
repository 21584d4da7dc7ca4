import type { JsonValue } from '../../../generated/wire';
import { externalAgent } from '../../../state/externalagent';
import type { IPanelServices } from '../../../ui/services';
import type { ConfirmedScope } from './autoapprovaldialog';
import type { ApprovedClass } from './approvedclasses';
import { APPROVED_CLASSES, HARMLESS } from './approvedclasses';

/**
 * Switch on or off that anything is done without asking.
 */
export async function switchAutoApproval(
  services: Services,
  isOn = !services.store.state?.settings?.autoApprovalEnabled
): Promise<void> {
  const settings = services.store.state?.settings;
  const kinds = APPROVED_CLASSES.filter(name => settings?.[name]);
  await save(services, isOn ? kinds : [], { autoApprovalEnabled: isOn });
}

/**
 * Switch all kinds of actions on or off, but for what the operator has fixed.
 */
export async function switchAllKinds(
  services: Services,
  isOn: boolean
): Promise<void> {
  const { settings, fixed = [] } = services.store.state ?? {};
  const changed = APPROVED_CLASSES.filter(name => !fixed.includes(name));
  const kinds = APPROVED_CLASSES.filter(
    name => settings?.[name] || changed.includes(name)
  );
  await save(services, isOn ? kinds : [], {
    ...Object.fromEntries(changed.map(name => [name, isOn])),
    ...(isOn ? mainSwitch(services) : {})
  });
}

/**
 * Switch one kind of action on or off. What is set while nothing is done
 * without asking does not come back with it.
 */
export async function switchKind(
  services: Services,
  name: ApprovedClass,
  isOn: boolean
): Promise<void> {
  const { settings, fixed = [] } = services.store.state ?? {};
  const others = settings?.autoApprovalEnabled
    ? []
    : APPROVED_CLASSES.filter(other => !fixed.includes(other));
  await save(services, isOn && !HARMLESS.has(name) ? [name] : [], {
    ...Object.fromEntries(others.map(other => [other, false])),
    ...mainSwitch(services),
    [name]: isOn
  });
}

/**
 * What turns the main setting on, where it is off and not fixed.
 */
function mainSwitch({ store }: Services): Record<string, JsonValue> {
  const { settings, fixed = [] } = store.state ?? {};
  return settings?.autoApprovalEnabled || fixed.includes('autoApprovalEnabled')
    ? {}
    : { autoApprovalEnabled: true };
}

type Services = Pick<IPanelServices, 'client' | 'store' | 'trans'>;

/**
 * Save the change, if the person agrees to these kinds of actions.
 */
async function save(
  services: Services,
  kinds: readonly ApprovedClass[],
  change: Record<string, JsonValue>
): Promise<void> {
  const agreed = await agreement(services, kinds);
  if (agreed !== null) {
    await services.client.request({
      type: 'updateSettings',
      updatedSettings: { ...change, ...agreed }
    });
  }
}

/**
 * Ask, the first time, whether the agent may do these kinds of actions without
 * asking.
 *
 * @returns What to save along with the switch, so that the person is not asked
 * again about the same kinds; `null` if they did not agree.
 */
export async function agreement(
  { store, trans }: Services,
  kinds: readonly ApprovedClass[],
  scope: ConfirmedScope = 'always'
): Promise<Record<string, JsonValue> | null> {
  const settings = store.state?.settings;
  // What one let our own agent do says nothing of another one.
  const isOurs = externalAgent(store) === null;
  if (
    settings === undefined ||
    kinds.length === 0 ||
    (isOurs &&
      kinds.every(name => settings.dismissedHints.includes(hint(name))))
  ) {
    return {};
  }
  const { confirmKinds } = await import('./autoapprovaldialog');
  if (!(await confirmKinds(trans, kinds, settings, scope, isOurs))) {
    return null;
  }
  if (!isOurs) {
    return {};
  }
  const now = store.state;
  return now?.fixed?.includes('dismissedHints')
    ? {}
    : {
        dismissedHints: [
          ...new Set([
            ...(now?.settings ?? settings).dismissedHints,
            ...kinds.map(hint)
          ])
        ]
      };
}

/**
 * What is remembered of a kind that the person has agreed to.
 */
function hint(name: ApprovedClass): string {
  return `autoApproval.${name}`;
}
