import { LabIcon } from '@jupyterlab/ui-components';

import enhanceSvg from '../../../labextension/style/enhance.svg';
import sendSvg from '../../../labextension/style/send.svg';

/**
 * Puts a text more clearly: a wand.
 */
export const enhanceIcon = new LabIcon({
  name: 'hdsp-agent:enhance',
  svgstr: enhanceSvg
});

/**
 * Sends a message.
 */
export const sendIcon = new LabIcon({
  name: 'hdsp-agent:send',
  svgstr: sendSvg
});
