/** Words of tool names that tell what a tool does. Data; `labels.ts` reads it. */
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));

export const SUGGESTIONS = {
  /** First words of a name that reads. */
  reads: words(`
    check compare count describe diff explain fetch find get head inspect list lookup peek preview query read resolve
    search show stat status summarize tail tree validate view whoami
  `),
  /** Any of these in a name: it does more than read. */
  writes: words(`
    accept add append apply approve archive assign attach begin book build buy call cancel change clear click clone close
    commit complete configure connect copy create debug deploy disable disconnect download draft drag edit enable enqueue
    eval evaluate exec execute export fill fork format generate grant import increment index init insert install invite
    invoke join kill label launch link lock log login logout make mark merge migrate mkdir modify mount move mutate open
    order patch pay pin press provision pull push put queue rebase record register rename replace request resume retry
    run save schedule script select set setup share shell sign sort spawn split sql stage start stop store submit
    subscribe switch sync tag terminal toggle transfer trigger type unassign undo uninstall unlock unpin unshare update
    upgrade upload upsert use vote watch write
  `),
  destroys: words(`
    ban clean cleanup delete destroy discard drop empty erase expire flush force format kill overwrite prune purge reject
    remove reset restore revert revoke rm rmdir rollback terminate trash truncate uninstall unlink unpublish wipe
  `),
  /** Lets something leave this machine, for other people or servers to read. */
  sends: words(`
    announce broadcast comment curl deploy dispatch donate email forward invite mail message notify pay ping post publish
    push react reply request respond send share sms submit telegram transfer tweet upload webhook
  `),
  /** Beside an argument that is an address. */
  fetches: words(
    'browse crawl download extract fetch get goto load navigate open read render scrape screenshot visit',
  ),
  /** Brings in what strangers wrote. */
  untrusted: words(`
    browse browser chat comment comments crawl email emails feed fetch http inbox issue issues mail mails message messages
    navigate news page pages post posts pr prs pull reply replies review reviews rss scrape search ticket tickets tweet
    tweets url web webpage website
  `),
  private: words(`
    account accounts address addresses attachment attachments calendar calendars chat chats contact contacts conversation
    conversations credential credentials customer customers database dm dms document documents drive email emails employee
    employees event events file files gmail history inbox invoice invoices key keys mail mails memory message messages
    note notes password passwords payment payments people photo photos private profile profiles query secret secrets sql
    table tables token tokens transaction transactions user users vault
  `),
} as const;
