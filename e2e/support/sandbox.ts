/** The control calls of the Steam sandbox that tests use. */

export type Player = { name: string; steamId: string; tradeUrl: string }
export type SandboxOffer = {
  id: string
  message: string
  state: number
  partner: string
  items: { assetId: string }[]
}

export async function players(sandbox: string): Promise<Player[]> {
  return (await fetch(`${sandbox}/control/players`)).json() as Promise<Player[]>
}

/** Shoppers whose trade link chooses what happens to them. */
async function magicPlayers(sandbox: string): Promise<Player[]> {
  return (await fetch(`${sandbox}/control/magic`)).json() as Promise<Player[]>
}

export async function player(sandbox: string, name = 'nova_hound'): Promise<Player> {
  const all = name.startsWith('magic_') ? await magicPlayers(sandbox) : await players(sandbox)
  const found = all.find((each) => each.name === name)
  if (found === undefined) throw new Error(`the sandbox has no ${name}`)
  return found
}

/** A new shopper like the one of that name: nobody else has used their items, or asks for their inventory. */
export async function inviteGuest(sandbox: string, like = 'nova_hound'): Promise<Player> {
  const response = await fetch(`${sandbox}/control/players`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ like }),
  })
  if (!response.ok) throw new Error(`no guest like ${like}: ${await response.text()}`)
  return (await response.json()) as Player
}

/** Declines what a guest was offered, and takes their items away. */
export async function dismissGuest(sandbox: string, { steamId }: Player): Promise<void> {
  const response = await fetch(`${sandbox}/control/players/${steamId}`, { method: 'DELETE' })
  if (!response.ok) throw new Error(`the guest ${steamId} does not leave: ${await response.text()}`)
}

export async function offers(sandbox: string): Promise<SandboxOffer[]> {
  return (await fetch(`${sandbox}/control/offers`)).json() as Promise<SandboxOffer[]>
}

/** Every offer that this shopper was ever sent: what is made for others beside them does not count. */
export async function offersTo(sandbox: string, { steamId }: Player): Promise<SandboxOffer[]> {
  return (await offers(sandbox)).filter(({ partner }) => partner === steamId)
}

/** The phone of this account approves a login whose picture it has scanned. */
export async function approveLogin(
  sandbox: string,
  clientId: string,
  { steamId }: Pick<Player, 'steamId'>,
): Promise<void> {
  const response = await fetch(`${sandbox}/control/logins/${clientId}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ steamId }),
  })
  if (!response.ok) throw new Error(`the sandbox does not know login ${clientId}: ${await response.text()}`)
}

export async function answerOffer(
  sandbox: string,
  offerId: string,
  answer: 'accept' | 'decline' | 'counter' | 'cancel',
): Promise<void> {
  const response = await fetch(`${sandbox}/control/offers/${offerId}/${answer}`, { method: 'POST' })
  if (!response.ok) throw new Error(`the sandbox refused to ${answer} offer ${offerId}`)
}

export async function botTokens(sandbox: string): Promise<string[]> {
  const bots = (await (await fetch(`${sandbox}/control/bots`)).json()) as { refreshToken: string }[]
  return bots.map((bot) => bot.refreshToken)
}

/** Switches a behaviour of Steam or of people on until `off` is called; `steamId` keeps it to one person. */
export async function begin(
  sandbox: string,
  name: string,
  said: { steamId?: string; times?: number } = {},
): Promise<{ off(): Promise<void> }> {
  const call = async (method: string): Promise<void> => {
    const response = await fetch(`${sandbox}/control/behaviours/${name}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'PUT' ? { body: JSON.stringify(said) } : {}),
    })
    if (!response.ok) throw new Error(`the sandbox does not know ${name}: ${await response.text()}`)
  }
  await call('PUT')
  return { off: () => call('DELETE') }
}
