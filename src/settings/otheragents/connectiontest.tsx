import * as React from 'react';

import type { McpServerTest } from '../../generated/rest';
import type { OtherAgentsData } from '../../rest/otheragentsdata';
import { useSettings } from '../settingscontext';
import { testStepText } from './otheragentstexts';

/**
 * Tries whether an agent could connect, and says what came of it.
 */
export function ConnectionTest({
  agents
}: {
  agents: OtherAgentsData;
}): JSX.Element {
  const { trans } = useSettings();
  const { isTesting, test } = agents;
  return (
    <div className="jp-hdspSettings-test">
      <button
        type="button"
        className="jp-hdspSettings-button"
        // One that is disabled would lose the focus.
        aria-disabled={isTesting}
        onClick={() => void agents.tryConnection()}
      >
        {trans.__('Test the connection')}
      </button>
      <div role="status">
        {isTesting && trans.__('Testing…')}
        {test && <Result test={test} />}
      </div>
    </div>
  );
}

function Result({ test }: { test: McpServerTest }): JSX.Element {
  const { trans } = useSettings();
  return (
    <>
      <p>
        {test.ok
          ? trans.__('The connection works.')
          : trans.__('The connection does not work yet.')}
      </p>
      <ul className="jp-hdspSettings-steps">
        {test.steps.map(step => (
          <li key={step.step} data-ok={step.ok}>
            <span aria-hidden="true">{step.ok ? '✓' : '✗'}</span>{' '}
            {testStepText(step, test.tools, trans)}
            {!step.ok && (
              <p className="jp-hdspSettings-about" lang="en">
                {step.message}
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
