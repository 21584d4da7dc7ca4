import { expect, test } from '../chat';
import { expectNames } from '../accessiblenames';

test('the conversation stays in sight when Lab hides and shows everything', async ({
  chat,
  lab,
  model
}) => {
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true
  });
  await chat.begin('Look around.');
  await model.beginAll(
    Array.from({ length: 40 }, (_, at) => ({
      name: 'search_files',
      args: { path: '.', regex: `tree-${at}` }
    }))
  );
  await chat.finish(model, 'There was nothing to see.');
  const newest = chat.messages('Agent', 'nothing to see');
  await expect(newest).toBeInViewport();

  await test.step('to put on a theme', async () => {
    for (const theme of ['dark', 'light'] as const) {
      await lab.wear(theme);
      await expect(newest).toBeInViewport();
      await chat.expectAtEnd();
    }
  });

  await test.step('to show another panel', async () => {
    await lab.page.sidebar.openTab('filebrowser');
    await expect(lab.panel).toBeHidden();
    await lab.showPanel();
    await expect(newest).toBeInViewport();
    await chat.expectAtEnd();
  });
});

test('everything in the panel has a name a screen reader tells', async ({
  chat,
  lab,
  model
}) => {
  await chat.open();
  await expectNames(lab.panel);
  await chat.say('Make a file.');
  await model.order('execute_command', { command: 'echo made' });
  await chat.expectAsked('echo made');
  await chat.field.fill('Wait a moment.');
  await chat.button('Queue').click();
  await expect(chat.queue).toBeVisible();

  await expectNames(lab.panel);
  await expect(lab.panel).toMatchAriaSnapshot(`
    - heading "HDSP Agent" [level=2]
    - status: "HDSP Agent: Connected"
    - tablist "Open conversations":
      - tab "Make a file., needs you" [selected]
    - button "New conversation"
    - button "Past conversations"
    - region "This conversation":
      - button "Details of this conversation"
      - button "Conversation actions"
    - feed "Conversation":
      - article "You":
        - group "Message actions"
      - article "Request to the model"
      - article "Command"
    - status: Run this command? echo made
    - group "The agent is waiting for you":
      - button "Run"
      - button "Approve always…"
      - button "Deny"
    - region "Write to the agent":
      - group "1 message queued (doesn't approve)":
        - list:
          - listitem:
            - button "Edit the queued message"
            - button "Remove the queued message"
      - textbox "Message to the agent"
      - button "Attach a cell, its output or files"
      - 'button "Mode: Agent"'
      - 'button "Model: played (default)"'
      - 'button "Ask (approvals)"'
      - button "Improve prompt"
      - button "Stop"
      - button "Queue"
  `);
  await expect(
    lab.page.getByRole('tab', {
      name: 'HDSP Agent: 1 conversation is waiting for you'
    })
  ).toBeVisible();

  await lab.execute('hdsp-agent:show-history');
  await expect(
    chat.history.getByRole('list', { name: 'Conversations' })
  ).toContainText('needs you');
  await expectNames(lab.panel);
});
