import * as React from 'react';

import type { McpServerView } from '../../generated/rest';
import type { OtherAgentsData } from '../../rest/otheragentsdata';
import { FieldRows } from '../fields/fieldrow';
import { SettingField } from '../fields/settingfield';
import { SectionProblem } from '../sections/sectionproblem';
import { useSettings } from '../settingscontext';
import { ConnectedList } from './connectedlist';
import { ConnectGuide } from './connectguide';
import { ConnectionTest } from './connectiontest';
import { SwitchField } from './switchfield';

/**
 * The setting that lets other agents run shell commands.
 */
export const COMMANDS_KEY = 'mcpServerCommands';

/**
 * Other agents that work in the person's notebooks: whether they may, how they
 * connect, and which do.
 */
export function OtherAgentsSection({
  agents
}: {
  agents: OtherAgentsData;
}): JSX.Element {
  const { trans } = useSettings();
  React.useEffect(() => void agents.refresh(), [agents]);
  const { error, loadError, value } = agents;
  return (
    <div className="jp-hdspSettings-agents">
      <p className="jp-hdspSettings-description jp-hdspSettings-lead">
        {trans.__(
          'Claude Code, Codex and other agents can read, edit and run your notebooks here. They ask you in the panel first, and you can undo what they do.'
        )}
      </p>
      <SectionProblem error={error ?? loadError} />
      {value && <Switch agents={agents} view={value} />}
      {value?.enabled && (
        <>
          <ConnectGuide view={value} />
          <ConnectionTest agents={agents} />
          <ConnectedList agents={agents} />
          <Advanced />
        </>
      )}
    </div>
  );
}

/**
 * What few people change.
 */
function Advanced(): JSX.Element {
  const { model } = useSettings();
  const field = model.field(COMMANDS_KEY);
  return (
    <FieldRows
      fields={field ? [field] : []}
      unfold={false}
      needsAttention={field => model.settings.form.errorOf(field) !== null}
      renderField={({ key }) => (
        <SettingField key={key} name={key} scope="agents" />
      )}
    />
  );
}

function Switch({
  agents,
  view
}: {
  agents: OtherAgentsData;
  view: McpServerView;
}): JSX.Element {
  const { trans } = useSettings();
  return (
    <SwitchField
      label={trans.__('Let other agents work in your notebooks')}
      description={trans.__(
        'Only programs that log in as you can connect. Turning this off disconnects them.'
      )}
      isOn={view.enabled}
      isDisabled={view.fixed}
      onChange={on => void agents.letIn(on)}
    >
      {view.fixed && (
        <span className="jp-hdspSettings-badge">
          {trans.__('Set by your administrator')}
        </span>
      )}
    </SwitchField>
  );
}
