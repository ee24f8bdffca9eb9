/** Acts as the phone of a bot: approves the login whose URL the text contains. Ignores a text without one. */
export function approveLogin(sandboxUrl: string, text: string, steamId: string): void {
  const clientId = /https:\/\/s\.team\/q\/\d+\/(\d+)/.exec(text)?.[1]
  if (clientId === undefined) return
  void fetch(`${sandboxUrl}/control/logins/${clientId}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ steamId }),
  })
}
