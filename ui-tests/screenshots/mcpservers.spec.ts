import * as path from 'path';

import { expect, test } from '../lab';
import { McpServersPage } from '../mcpserverspage';

const ROOT = path.resolve(__dirname, '../..');
const PICTURE = path.join(ROOT, 'docs/assets/mcp-servers.png');
const NAME = 'tickets';

test('the MCP servers and their tools', async ({ lab, startServer }) => {
  const servers = new McpServersPage(lab);
  const { url } = await startServer({
    env: {
      PATH: `${path.join(ROOT, '.venv/bin')}${path.delimiter}${process.env.PATH}`
    }
  });
  await lab.visit(url);
  await lab.page.sidebar.close('left');
  await servers.paste({
    [NAME]: { command: 'python', args: ['tickets_server.py'], cwd: __dirname }
  });
  const server = servers.item(NAME);
  await expect(server).toContainText('Connected');
  await server.getByRole('button', { name: `3 tools of ${NAME}` }).click();
  const free = server.getByRole('checkbox', {
    name: 'Without asking: find_tickets'
  });
  await free.click();
  await expect(free).toBeChecked();
  await lab.page.mouse.move(0, 0);
  await lab.settings.screenshot({ path: PICTURE, animations: 'disabled' });
});
