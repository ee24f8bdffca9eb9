/** Every text of the widget in English. Russian has the same keys; one that is missing there shows from here. */
import type { Game } from '../../contract/games.ts'
import type { FinalDepositStatus, InventoryErrorType, UnavailableReason } from '../../contract/statuses.ts'
import type { PayBlock } from '../flow/selectors.ts'
import type { Sort } from '../flow/state.ts'

const count = (n: number, one: string, other: string): string => `${n} ${n === 1 ? one : other}`

export type ErrorText = { title: string; description: string }

export const en = {
  sandboxBanner: 'Sandbox: no real items, no real money',
  offline: 'You are offline. This page goes on by itself when the connection is back.',
  online: 'The connection is back.',
  support: 'Support',
  language: 'Language',
  depositTo: (storeName: string) => `Deposit to the ${storeName}`,
  addFunds: 'add funds',
  loading: 'Loading your deposit…',
  retry: 'Try again',
  close: 'Close',
  notFound: 'Page not found',
  notFoundHint: 'The address may be mistyped or out of date. Start again from the store.',
  paymentNotFound: 'Failed to find your payment',
  paymentNotFoundHint: 'The link may be incomplete or out of date. Go back to the store and start again.',
  paymentNotLoaded: 'We cannot reach the server',
  paymentNotLoadedHint: 'Nothing is lost. Check your connection and try again in a moment.',
  failedToReceiveDeposit: 'failed to receive deposit',

  tradeLink: 'Steam trade link',
  tradeLinkPlaceholder: 'Paste your trade link here',
  tradeLinkWhy: 'It lets our bot send you a trade offer. It gives no access to your account.',
  tradeLinkValid: 'Trade link is valid',
  tradeLinkInvalid: 'This is not a trade link. Copy it whole, from https to the last letter of the token.',
  tradeLinkChecking: 'Checking the link…',
  tradeLinkClear: 'Clear the link',
  userFailed: 'Failed get user information',
  userFailedHint: 'Check the link or try again in a moment.',
  userUnavailableHint: 'Steam does not answer just now. Your link is kept.',
  cookiesNeeded: 'Your browser blocks the cookie of this page. Allow cookies for this site and reload it.',

  guideTitle: 'Where to find your trade link',
  guideSteps: [
    {
      title: 'Open your trade settings',
      text: 'In Steam: Inventory → Trade Offers → Who can send me Trade Offers?',
    },
    { title: 'Copy the trade URL', text: 'It stands at the bottom of that page, under “Third-Party Sites”.' },
    {
      title: 'Paste it here',
      text: 'We show your name and picture, so that you can see it is your account.',
    },
  ],
  guideOpen: 'Open trade settings on Steam',
  guideVideo: 'Watch how to find it (video)',
  itemConditions:
    'Items count when they are worth more than 0.1 USD, popular among players, and free of trade restrictions.',

  game: 'Game',
  games: { cs: 'CS2', dota: 'Dota 2', rust: 'Rust', tf: 'TF2' } satisfies Record<Game, string>,
  search: 'Search items',
  searchOpen: 'Open search',
  searchClose: 'Close search',
  sort: 'Sort',
  sorts: {
    default: 'Newest first',
    priceDown: 'Price: high to low',
    priceUp: 'Price: low to high',
  } satisfies Record<Sort, string>,
  reload: 'Reload the inventory',
  inventory: 'Inventory',
  inventoryLoading: 'Loading your items from Steam…',
  nothingFound: 'No item has such a name',
  nothingUsable: 'None of your items can be used here',
  nothingUsableHint: 'Choose another game, or look below why the items do not count.',
  itemAge: (seconds: number) => `Inventory as of ${count(seconds, 'second', 'seconds')} ago`,
  unavailable: (n: number) => `${count(n, 'more item', 'more items')} can’t be used`,
  why: 'why?',
  unavailableReasons: {
    notTradable: 'cannot be traded',
    tradeHold: 'are held by Steam for now',
    tradeProtected: 'are under Steam’s trade protection',
    stack: 'are stacks: only single items are taken',
    unknownItem: 'are not described by Steam',
    noPrice: 'have no reliable price now',
    notPopular: 'are too rarely sold',
    tooCheap: 'are worth 0.1 USD or less',
    inAnotherTrade: 'are in another trade',
  } satisfies Record<UnavailableReason, string>,
  firstFree: (date: string) => `Steam lets go of the first of them on ${date}.`,
  wear: {
    WearCategory0: ['FN', 'Factory New'],
    WearCategory1: ['MW', 'Minimal Wear'],
    WearCategory2: ['FT', 'Field-Tested'],
    WearCategory3: ['WW', 'Well-Worn'],
    WearCategory4: ['BS', 'Battle-Scarred'],
  },
  rarities: ['Standard', 'Common', 'Uncommon', 'Rare', 'Mythical', 'Legendary', 'Ancient', 'Exceptional'],
  selectedMark: 'selected',

  summary: 'Your payment',
  minimum: 'Minimum',
  selected: 'Selected',
  selectedCount: (n: number) => `Selected: ${n}`,
  total: 'Total',
  pay: 'Add funds',
  clear: 'Clear',
  clearAll: 'Clear the selection',
  removeItem: (name: string) => `Remove ${name}`,
  pickItems: 'Pick the items you want to pay with.',
  worthInStore: (amount: string) =>
    `Worth ${amount} in the store. If Steam’s trade protection holds a part back, you will see until when.`,
  announceSelection: (n: number, total: string) => `${n} selected, ${total}`,
  payBlocks: {
    loading: () => 'The inventory is loading.',
    noItems: (limit: string) => `Pick items for at least ${limit}.`,
    belowMinimum: (limit: string) => `The minimum payment is ${limit}. Add more items.`,
    aboveMaximum: (limit: string) => `This deposit takes at most ${limit}. Remove some items.`,
  } satisfies Record<PayBlock, (limit: string) => string>,
  tooManyItems: 'You have chosen too many items to trade',
  offerWaiting: 'Your trade offer is waiting on Steam.',
  offerReturn: 'Back to the offer',
  offerTimeLeft: (time: string) => `${time} left`,

  confirmTitle: 'Accept the trade offer',
  confirmSummary: (n: number, amount: string) => `${count(n, 'item', 'items')} · ${amount}`,
  creatingTitle: 'Sending you a trade offer…',
  creatingText: 'Our bot is sending the offer on Steam. This takes a few seconds; your items stay yours.',
  timeLeftText: 'left to accept. Items stay yours until you confirm.',
  timeUnknownText: 'We are waiting for word from Steam. Your items are safe.',
  timeAnnounce: (seconds: number) =>
    seconds >= 60
      ? `${count(Math.round(seconds / 60), 'minute', 'minutes')} left to accept`
      : `${count(seconds, 'second', 'seconds')} left to accept`,
  botLevel: (level: number) => `Steam level ${level}`,
  botProfile: 'profile on Steam',
  secretCode: 'Secret code in the offer’s message',
  copy: 'Copy',
  copied: 'Copied',
  acceptInBrowser: 'Accept in browser',
  acceptInClient: 'In Steam client',
  scamWarning:
    'Check the code and the bot’s level. A copy of our bot will not know the code. We never ask you to send items again.',
  technicalWorks: 'Steam has technical works right now, so this may take longer. Your items are safe.',
  technicalWorksOnPage:
    'Technical works: new trades are paused and your time stands still. Your items are safe; this line goes away by itself when it is over.',
  confirmNext: 'Accept the offer on Steam and come back: this page turns by itself.',
  stepBack: 'Step back without cancelling',
  offerNumber: (id: string) => `Steam offer ${id}`,

  outcomes: {
    succeeded: {
      title: 'Items received',
      description: 'We have your items. The funds will be added to your balance in the store shortly.',
    },
    tradeTimeout: {
      title: 'The time is over',
      description:
        'We did not receive the items in time and the offer is cancelled; the items are still yours. Go back to the store and try again, or contact support.',
    },
    tradeDeclined: {
      title: 'The trade was cancelled on Steam',
      description: 'The offer was declined, so no item has left your inventory.',
    },
    tradeCountered: {
      title: 'A counteroffer was sent',
      description:
        'Our bot takes only the offer it made itself. The counteroffer is refused; your items are still yours.',
    },
    tradeHasInvalidItems: {
      title: 'The trade is cancelled',
      description:
        'Some of the items could no longer be traded; nothing has left your inventory. Go back to the store and try again, or contact support.',
    },
  } satisfies Partial<Record<FinalDepositStatus, ErrorText>>,
  closedNote: 'This deposit is closed. Start again from the store.',
  scamSteps: [
    'If you did not cancel the trade yourself, somebody else may control your account: accept no offer that looks like ours.',
    'Revoke the Steam Web API key if you did not create one, and sign out of all other devices.',
    'Change your Steam password, then start again from the store.',
  ],
  scamApiKey: 'Check your Steam API key',
  stolenKeyTitle: 'This was probably not you',
  stolenKeyText:
    'The offer was declined within seconds of being sent. Somebody with a stolen Steam Web API key does this and then sends an offer that looks like ours.',
  stolenKeySteps: [
    'Decline every offer that looks like ours. Our bots send no second one by themselves.',
    'Revoke the Steam Web API key below if you did not create it.',
    'In Steam: Account details → Manage Steam Guard, deauthorise all other devices.',
    'Change your Steam password, then start again from the store.',
  ],
  scamTitle: 'Was it not you?',
  youReceive: 'You receive',
  heldUntil: (amount: string, date: string) =>
    `The store can spend ${amount} from ${date} on: until then Steam lets a sender take the trade back.`,
  backToStore: 'Back to the store',
  stopSound: 'Stop the sound',

  creationErrorTitle: 'Failed to create trade',
  creationErrorText:
    'Check the trade URL or try later; your Steam account may have restrictions. Nothing has left your inventory.',
  creationErrors: {
    too_many_items: 'You have chosen too many items to trade',
    price_changed:
      'Prices have changed since you opened the inventory. It is being loaded again: pick once more.',
    items_unavailable:
      'Some of the items can no longer be used. The inventory is being loaded again: pick once more.',
    no_bot_available:
      'No bot can take your items right now. Nothing was sent. Try again in a minute; if that does not help, go back to the store and pay later.',
    steam_unavailable: 'Steam does not answer right now. Your items are safe; try again in a few minutes.',
    technical_works:
      'New trades are paused for technical works. Nothing was sent and your time stands still; try again in a few minutes.',
    deposit_closed: 'This deposit is already closed. Go back to the store and start a new one.',
  } as Partial<Record<string, string>>,

  inventoryErrors: {
    internal: {
      title: 'Failed to get your inventory',
      description: 'Try again later or contact support. Your items are safe.',
    },
    tradeNotAvailable: {
      title: 'Trade is not available',
      description: 'There are no items to trade; probably you do not own this game.',
    },
    hidden: {
      title: 'Your inventory is hidden',
      description: 'In Steam’s privacy settings switch “Inventory” to Open (Public), then try again.',
    },
    escrow: {
      title: 'Trade restrictions',
      description:
        'Your account has not been protected by the mobile authenticator for 7 days, so Steam would delay the transfer. Come back when the 7 days are over.',
    },
    invalidPartner: {
      title: 'Incorrect Trade URL',
      description: 'Steam does not accept this link any more. Copy the current one from your trade settings.',
    },
    engineeringWorks: {
      title: 'Technical works',
      description:
        'Steam or our bots are out of reach for a moment. Your items are safe; try again in a few minutes.',
    },
  } satisfies Record<InventoryErrorType, ErrorText>,

  toastTypes: { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' },
  toasts: 'Messages',
}

export type Messages = typeof en
