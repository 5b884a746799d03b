// A bookshop on Express, and Portico in the same process.
import express from 'express';
import { createAgent, createMemoryDataSource } from 'portico';
import { createAccounts } from './accounts.js';
import { tables } from './tables.js';

const port = Number(process.env.PORT ?? 3000);
const publicUrl = process.env.PUBLIC_URL ?? `http://localhost:${port}`;
const accounts = createAccounts();

const agent = createAgent({
  authSecret: process.env.AUTH_SECRET ?? 'for trying it out only',
  envSecret: process.env.ENV_SECRET ?? 'for trying it out only',
  settings: { publicUrl },
  authenticate(req) {
    const person = accounts.whoIs(req.headers.cookie);
    if (!person) return null;
    return {
      subject: person.id,
      email: person.email,
      emailVerified: true,
      firstName: person.name,
      role: person.isManager ? 'Administrator' : 'Member',
    };
  },
  signInUrl: '/login?next={returnTo}',
})
  .addDataSource(createMemoryDataSource('bookshop', tables))
  .customizeCollection('books', (books) =>
    books.addSegment('Sold out', { field: 'stock', operator: 'Equal', value: 0 }).addAction('Order from publisher', {
      scope: 'Single',
      form: [{ label: 'Copies', type: 'Number', isRequired: true, defaultValue: 10 }],
      async execute(context, result) {
        const { title, stock } = await context.getRecord(['title', 'stock']);
        await context.collection.update(context.filter, { stock: stock + context.formValues.Copies });
        return result.success(`${context.formValues.Copies} copies of ${title} are on their way`);
      },
    }),
  )
  .mountAiMcpServer({ basePath: '/portico' });

const app = express();
agent.mountOnExpress(app);

app.get('/', (req, res) => {
  const person = accounts.whoIs(req.headers.cookie);
  res.send(page(person ? `<p>Good morning, ${person.name}.</p>` : '<p><a href="/login">Sign in</a></p>'));
});
app.get('/login', (req, res) => res.send(page(loginForm(nextOf(req.query.next)))));
app.post('/login', express.urlencoded({ extended: false }), (req, res) => {
  const session = accounts.signIn(req.body.name, req.body.password);
  if (!session) return res.status(401).send(page(`<p>That is not right.</p>${loginForm(nextOf(req.body.next))}`));
  res.cookie('bookshop', session, { httpOnly: true, sameSite: 'lax', secure: publicUrl.startsWith('https:') });
  res.redirect(303, nextOf(req.body.next));
});

await agent.start();
const server = app.listen(port, '127.0.0.1', () => {
  console.log(`The shop: ${publicUrl}`);
  console.log(`For assistants: ${publicUrl}/portico/mcp`);
});
process.once('SIGTERM', async () => {
  server.close();
  await agent.stop();
  process.exit(0);
});

/** Where to go after the sign-in: an address of this shop, or its first page. Any other would be an open redirect. */
function nextOf(given) {
  const url = URL.canParse(`${given}`, publicUrl) ? new URL(`${given}`, publicUrl) : null;
  return given && url?.origin === new URL(publicUrl).origin ? url.href : '/';
}

function loginForm(next) {
  return `<form method="post" action="/login">
    <input type="hidden" name="next" value="${asText(next)}">
    <label>Name <input name="name" autocomplete="username"></label>
    <label>Password <input name="password" type="password" autocomplete="current-password"></label>
    <button name="go" value="sign-in">Sign in</button>
  </form>`;
}

function page(content) {
  return `<!doctype html><html lang="en"><title>Tidewater Books</title><h1>Tidewater Books</h1>${content}</html>`;
}

function asText(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
