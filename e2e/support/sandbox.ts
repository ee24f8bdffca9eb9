/** The Steam sandbox's control calls that tests use. */

export type Player = { name: string; steamId: string; tradeUrl: string }
export type SandboxOffer = {
  id: string
  message: string
  /** Steam's number for the state of an offer: 2 is active. */
  state: number
  /** The SteamID of the account that got the offer. */
  partner: string
  items: { assetId: string }[]
}

export async function readPlayers(sandbox: string): Promise<Player[]> {
  return (await fetch(`${sandbox}/control/players`)).json() as Promise<Player[]>
}

/** Shoppers with a permanent behaviour. */
async function readMagicPlayers(sandbox: string): Promise<Player[]> {
  return (await fetch(`${sandbox}/control/magic`)).json() as Promise<Player[]>
}

export async function readPlayer(sandbox: string, name = 'nova_hound'): Promise<Player> {
  const players = name.startsWith('magic_') ? await readMagicPlayers(sandbox) : await readPlayers(sandbox)
  const player = players.find((each) => each.name === name)
  if (player === undefined) throw new Error(`the sandbox has no ${name}`)
  return player
}

/** Adds a guest: a new Steam account with copies of the items of the shopper called `like`, for one test alone. */
export async function inviteGuest(sandbox: string, like = 'nova_hound'): Promise<Player> {
  const response = await fetch(`${sandbox}/control/players`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ like }),
  })
  if (!response.ok) throw new Error(`no guest like ${like}: ${await response.text()}`)
  return (await response.json()) as Player
}

/** Declines a guest's open offers, and removes the guest's items. */
export async function dismissGuest(sandbox: string, { steamId }: Player): Promise<void> {
  const response = await fetch(`${sandbox}/control/players/${steamId}`, { method: 'DELETE' })
  if (!response.ok) throw new Error(`the guest ${steamId} was not removed: ${await response.text()}`)
}

export async function readOffers(sandbox: string): Promise<SandboxOffer[]> {
  return (await fetch(`${sandbox}/control/offers`)).json() as Promise<SandboxOffer[]>
}

export async function readOffersTo(sandbox: string, { steamId }: Player): Promise<SandboxOffer[]> {
  return (await readOffers(sandbox)).filter(({ partner }) => partner === steamId)
}

/** Approves a login by QR code with the phone of this account. */
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

/** Has Steam replace the QR code of a login. */
export async function replaceQrCode(sandbox: string, clientId: string): Promise<void> {
  const response = await fetch(`${sandbox}/control/logins/${clientId}/replace`, { method: 'POST' })
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

export async function readBotTokens(sandbox: string): Promise<string[]> {
  const bots = (await (await fetch(`${sandbox}/control/bots`)).json()) as { refreshToken: string }[]
  return bots.map((bot) => bot.refreshToken)
}

/**
 * Switches on a behaviour of Steam or of people, until `off` is called. `steamId` limits it to one account, `times` to
 * that many requests.
 */
export async function beginBehaviour(
  sandbox: string,
  name: string,
  settings: { steamId?: string; times?: number } = {},
): Promise<{ off(): Promise<void> }> {
  const call = async (method: string): Promise<void> => {
    const response = await fetch(`${sandbox}/control/behaviours/${name}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'PUT' ? { body: JSON.stringify(settings) } : {}),
    })
    if (!response.ok) throw new Error(`the sandbox does not know ${name}: ${await response.text()}`)
  }
  await call('PUT')
  return { off: () => call('DELETE') }
}
