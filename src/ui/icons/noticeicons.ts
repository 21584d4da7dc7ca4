import { LabIcon } from '@jupyterlab/ui-components';

import noticeSvg from '../../../labextension/style/notice.svg';
import warningSvg from '../../../labextension/style/warning.svg';

/**
 * A circle: something to know.
 */
export const noticeIcon = new LabIcon({
  name: 'hdsp-agent:notice',
  svgstr: noticeSvg
});

/**
 * A triangle: something to look at.
 */
export const warningIcon = new LabIcon({
  name: 'hdsp-agent:warning',
  svgstr: warningSvg
});
