import { LabIcon } from '@jupyterlab/ui-components';

import agentSvg from '../../../labextension/style/agent.svg';

/**
 * The agent's mark: a page it works on, and a spark.
 */
export const agentIcon = new LabIcon({
  name: 'hdsp-agent:icon',
  svgstr: agentSvg
});
