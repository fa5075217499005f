// An authorization server of somebody else's making, with its own sign-in and consent pages. It keeps a journal of
// what reaches its token endpoint, and is told what to do by `POST /__set`.
import { Provider } from "oidc-provider";
import { createServer } from "node:http";

const clients = JSON.parse(process.argv[2]);
const settings = { seconds: 3600, silent: false };
const journal = [];

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    scopes: ["openid", "email", "offline_access", "sleep"],
    claims: { openid: ["sub"], email: ["email"] },
    cookies: { keys: ["a key of the tests"] },
    features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.org` }) }),
    rotateRefreshToken: true,
    ttl: {
      AccessToken: () => settings.seconds,
      AuthorizationCode: 60, Grant: 3600, IdToken: 3600, Interaction: 3600, RefreshToken: 3600, Session: 3600,
    },
  });
  const handle = provider.callback();
  server.on("request", async (request, response) => {
    if (request.url === "/__set") {
      let body = "";
      for await (const piece of request) body += piece;
      Object.assign(settings, JSON.parse(body));
      return response.end("{}");
    }
    if (request.url === "/__journal") return response.end(JSON.stringify(journal));
    if (request.method === "POST" && request.url.startsWith("/token")) {
      journal.push(request.url);
      if (settings.silent) return request.socket.destroy();
    }
    return handle(request, response);
  });
  provider.on("grant.success", (ctx) => journal.push(`granted ${ctx.oidc.params.grant_type}`));
  console.log(issuer);
});
