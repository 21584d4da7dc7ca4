import * as React from 'react';

import type { ConnectedAgentView } from '../../generated/rest';
import type { ApprovalPreset } from '../../panel/asks/approval/approvals';
import { PRESETS, riskyKinds } from '../../panel/asks/approval/approvals';
import { presetTexts } from '../../panel/asks/approval/approvaltexts';
import type { OtherAgentsData } from '../../rest/otheragentsdata';
import { dateTimeText } from '../../ui/texts/formats';
import { ItemAction, ItemActions } from '../sections/itemactions';
import { useSettings } from '../settingscontext';
import { activityText } from './otheragentstexts';
import { SwitchField } from './switchfield';

/**
 * The agents that are connected now, and what they may do.
 */
export function ConnectedList({
  agents
}: {
  agents: OtherAgentsData;
}): JSX.Element {
  const { trans } = useSettings();
  const connected = agents.value?.agents ?? [];
  const heading = React.useRef<HTMLHeadingElement>(null);
  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {trans.__('Connected now')}
      </h3>
      {connected.length === 0 ? (
        <p>{trans.__('No agent is connected.')}</p>
      ) : (
        <ul className="jp-hdspSettings-embedded">
          {connected.map(agent => (
            <Connected
              key={agent.key}
              agent={agent}
              agents={agents}
              onGone={() => heading.current?.focus()}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Connected({
  agent,
  agents,
  onGone
}: {
  agent: ConnectedAgentView;
  agents: OtherAgentsData;

  /**
   * Called when it is no longer there, and the focus would be lost.
   */
  onGone: () => void;
}): JSX.Element {
  const { trans, dialogs, announce, openConversation } = useSettings();
  const { key, lastCall, name, since, taskId, version } = agent;
  const disconnect = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Disconnect %1?', name),
      body: trans.__(
        'What it is doing is stopped. Its conversation stays. The program can connect again.'
      ),
      accept: trans.__('Disconnect')
    });
    if (sure && (await agents.disconnect(key))) {
      onGone();
      announce(trans.__('%1 was disconnected.', name));
    }
  };
  return (
    <li aria-label={name} data-agent={key}>
      <div className="jp-hdspSettings-embeddedHead">
        <span className="jp-hdspSettings-label">{name}</span>
        {version && <span className="jp-hdspSettings-about">{version}</span>}
        <span className="jp-hdspSettings-badge">
          {activityText(agent, trans)}
        </span>
      </div>
      <p className="jp-hdspSettings-about">
        {trans.__('Connected since %1', dateTimeText(since))}
        {lastCall !== undefined && (
          <>
            {' · '}
            {trans.__('last active %1', dateTimeText(lastCall))}
          </>
        )}
      </p>
      <Preset agent={agent} agents={agents} />
      {(agent.canAsk || agent.mayAsk) && (
        <OwnWindow agent={agent} agents={agents} />
      )}
      <ItemActions name={name}>
        {taskId !== undefined && openConversation !== null && (
          <ItemAction
            label={trans.__('Show the conversation')}
            about={trans.__('Show the conversation: %1', name)}
            onClick={() => openConversation(taskId)}
          />
        )}
        <ItemAction
          label={trans.__('Disconnect…')}
          about={trans.__('Disconnect… %1', name)}
          onClick={disconnect}
        />
      </ItemActions>
    </li>
  );
}

/**
 * Whether an agent may also ask in its own window.
 */
function OwnWindow({
  agent: { key, mayAsk, name },
  agents
}: {
  agent: ConnectedAgentView;
  agents: OtherAgentsData;
}): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const choose = async (on: boolean) => {
    const sure =
      !on ||
      (await dialogs.confirm({
        title: trans.__('Let %1 ask in its own window?', name),
        body: trans.__(
          'Its questions will appear there, too, and the first answer counts. A program could also answer them itself. Allow this only if you trust it.'
        ),
        accept: trans.__('Allow')
      }));
    if (sure && (await agents.letAsk(key, on))) {
      announce(trans.__('Saved'));
    }
  };
  return (
    <SwitchField
      label={trans.__('May also ask in its own window')}
      description={trans.__(
        'Questions appear here and there, and the first answer counts.'
      )}
      isOn={mayAsk}
      isDisabled={agents.isBusy}
      onChange={on => void choose(on)}
    />
  );
}

/**
 * What an agent may do without asking.
 */
function Preset({
  agent,
  agents
}: {
  agent: ConnectedAgentView;
  agents: OtherAgentsData;
}): JSX.Element {
  const { model, trans, announce } = useSettings();
  const id = React.useId();
  const { approvals } = agent;
  const choose = async (preset: ApprovalPreset) => {
    const kinds = riskyKinds(preset);
    const { settings } = model.settings.value ?? {};
    if (kinds.length > 0 && settings !== undefined) {
      const { confirmKinds } =
        await import('../../panel/asks/autoapproval/autoapprovaldialog');
      if (!(await confirmKinds(trans, kinds, settings, 'program', false))) {
        return;
      }
    }
    if (await agents.allow(agent.key, preset)) {
      announce(trans.__('Saved'));
    }
  };
  return (
    <div className="jp-hdspSettings-mode">
      <label htmlFor={id}>{trans.__('Without asking')}</label>
      <select
        id={id}
        className="jp-hdspSettings-input"
        value={approvals}
        disabled={agents.isBusy}
        aria-describedby={`${id}-meaning`}
        onChange={event => void choose(event.target.value as ApprovalPreset)}
      >
        {PRESETS.map(preset => (
          <option key={preset} value={preset}>
            {presetTexts(preset, trans).name}
          </option>
        ))}
      </select>
      <p
        id={`${id}-meaning`}
        className="jp-hdspSettings-description jp-hdspSettings-modeMeaning"
      >
        {presetTexts(approvals, trans).meaning}
      </p>
    </div>
  );
}
