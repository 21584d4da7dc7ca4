import base from './playwright.config';
export default { ...base, outputDir: '/tmp/s4out', webServer: { ...(base.webServer as object), reuseExistingServer: true } };
