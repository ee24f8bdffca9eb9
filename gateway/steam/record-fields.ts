/**
 * Lists the fields of requests to Steam and of the answers, each with the rule for its value in a record. Pure. The
 * value of a field that is not listed is replaced, unless it is true, false or null.
 */

/**
 * `keep`: stays as it is. `person`: a SteamID, or its account number. `asset`, `offer`, `trade`: an id of that kind.
 * `name`: a text by a person. `line`: a text about an item. `sentence`: a text by Steam. `picture`: the URL of an
 * avatar. `message`: the text of an offer.
 */
export type Rule =
  | 'keep'
  | 'person'
  | 'asset'
  | 'offer'
  | 'trade'
  | 'name'
  | 'line'
  | 'sentence'
  | 'picture'
  | 'message'

const LISTS: Record<Rule, string> = {
  keep: `success more more_start more_items total_inventory_count next_cursor cursor appid contextid classid instanceid
    amount pos new_contextid rollback_new_contextid market_hash_name market_name type category internal_name
    localized_category_name localized_tag_name category_name color name_color background_color tradable marketable
    commodity currency sealed sealed_type item_expiration market_tradable_restriction market_marketable_restriction
    cache_expiration rwgrsn trade_offer_state is_our_offer time_created time_updated time_init time_mod time_settlement
    expiration_time escrow_end_date escrow_end_duration_seconds confirmation_method eresult delay_settlement
    settlement_date from_real_time_trade missing status total_trades needs_mobile_confirmation needs_email_confirmation
    level l language count propertyid get_sent_offers get_received_offers get_descriptions active_only historical_only
    time_historical_cutoff max_trades start_after_time navigating_back include_failed include_total trading xml start
    memberSince`,
  person: 'steamid steamid_target steamid_other accountid_other partner steamID64',
  asset: 'assetid id new_assetid rollback_new_assetid last_assetid start_assetid',
  offer: 'tradeofferid',
  trade: 'tradeid rollback_trade start_after_tradeid',
  name: 'persona_name steamID',
  line: 'value',
  sentence: 'strError error Error',
  picture: 'avatar_url avatarIcon avatarMedium avatarFull',
  message: 'message',
}

const FIELDS: ReadonlyMap<string, Rule> = new Map(
  (Object.keys(LISTS) as Rule[]).flatMap((rule) =>
    LISTS[rule].split(/\s+/).map((field): [string, Rule] => [field, rule]),
  ),
)

/** Objects whose keys are ids. */
export const KEYS_OF: ReadonlyMap<string, Rule> = new Map([
  ['rgInventory', 'asset'],
  ['rgAssetProperties', 'asset'],
])

/** The property with a weapon's paint. The other properties would identify the weapon. */
const PAINT = 7

/** The rule for a number in a URL's path, by the word before it. */
export const PATHS: ReadonlyMap<string, Rule> = new Map([
  ['profiles', 'person'],
  ['inventory', 'person'],
  ['miniprofile', 'person'],
  ['tradeoffer', 'offer'],
])
/** In the address of a profile, the part after this is a name that its owner chose. */
export const NAMED_PROFILE = 'id'

/** The headers that a record keeps. */
export const HEADERS = ['content-type', 'retry-after', 'x-eresult']

export function ruleOf(field: string, owner: object): Rule | undefined {
  if (field === 'int_value') return Reflect.get(owner, 'propertyid') === PAINT ? 'keep' : undefined
  if (field !== 'name') return FIELDS.get(field)
  // A tag's name comes from Steam. An item's name may come from its owner, unless the market has the same name.
  const { name, category, market_name, market_hash_name } = owner as Record<string, unknown>
  return category !== undefined || name === market_name || name === market_hash_name ? 'keep' : 'name'
}

/** True if the field's name may stay in the record: it is listed, or has the form of Steam's names. */
export const isField = (name: string): boolean => FIELDS.has(name) || /^[A-Za-z_]{1,40}$/.test(name)

/** The words of Steam's own sentences. Other words, except short numbers, may be names, so they are replaced. */
const WORDS = new Set(
  `There was an error sending accepting canceling declining your this trade offer Please try again later Access is denied
  More information will be shown to they invite you to not available cannot because have a ban This person has limited
  account inventory privacy set to Private so are unable receive offers URL no longer valid for Trade Offers can only
  sent friends You logged in from new device In order protect items able days must had Steam Guard enabled at least
  before participate too many or outstanding with cancel some more would put over the maximum number of allowed
  We were contact game item server may down experiencing temporary connectivity issues Your been Refresh page profile
  private The specified could found EYldRefreshAppIfNecessary failed EResult`.split(/\s+/),
)

export const isSteamsWord = (word: string): boolean => WORDS.has(word) || /^\d{1,3}$/.test(word)
