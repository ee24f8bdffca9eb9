/** Elements with which Google, Microsoft and Yandex replace a text. */
const STAND_INS = /^(FONT|YA-TR-SPAN)$/

/**
 * Translators replace our texts with elements of their own, although the page asks them not to. React keeps changing
 * and removing the texts that it made. Without this function React would fail on the first missing text, or an old
 * amount would stay.
 */
export function surviveTranslators(root: Node): void {
  /** The element that replaced each text. */
  const standIns = new WeakMap<Node, Node>()
  let isTranslated = false

  const observer = new MutationObserver(follow)

  function follow(records: MutationRecord[]): void {
    for (const record of records) {
      if (record.type === 'characterData') putBack(record.target)
      else for (const removed of record.removedNodes) remember(removed, record)
    }
  }

  function remember(removed: Node, { addedNodes, previousSibling }: MutationRecord): void {
    if (!(removed instanceof Text) || removed.isConnected) return
    // A translator replaces the text in one step, or inserts its element before the text and then removes the text.
    const standIn = addedNodes[0] ?? previousSibling
    if (standIn === undefined || standIn === null || !STAND_INS.test(standIn.nodeName)) return
    isTranslated = true
    standIns.set(removed, standIn)
    observer.observe(removed, { characterData: true })
  }

  /** Puts a changed text back in place of its translation. */
  function putBack(text: Node): void {
    const standIn = standIns.get(text)
    if (standIn?.parentNode && !text.isConnected) standIn.parentNode.replaceChild(text, standIn)
  }

  /** Returns the child of `parent` that is, contains or replaces this node. */
  function placeOf(parent: Node, node: Node): Node | null {
    if (node.parentNode === parent) return node
    follow(observer.takeRecords())
    // The page is not translated, so this is a defect of our own: do not hide it.
    if (!isTranslated) return node
    let place = standIns.get(node)?.isConnected ? standIns.get(node) : node
    while (place && place.parentNode !== parent) place = place.parentNode ?? undefined
    return place ?? null
  }

  const { removeChild, insertBefore } = Node.prototype
  Node.prototype.removeChild = function <T extends Node>(child: T): T {
    const place = placeOf(this, child)
    if (place !== null) removeChild.call(this, place)
    return child
  }
  Node.prototype.insertBefore = function <T extends Node>(node: T, before: Node | null): T {
    insertBefore.call(this, node, before === null ? null : placeOf(this, before))
    return node
  }
  observer.observe(root, { childList: true, subtree: true })
}
