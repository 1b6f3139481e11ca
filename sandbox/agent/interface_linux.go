package agent

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// addInterface makes the interface that the Config names: one end of a pair whose other
// end is up in a network namespace where nothing else is. What is sent by it goes nowhere.
// Where the kernel refuses, the sandbox has its loopback alone, as a note says.
func (a *agent) addInterface() {
	n := &a.cfg.Network.Sinkhole
	if n.Interface == "" {
		return
	}
	name := n.Interface
	n.Interface = ""
	if err := a.addPair(name, a.cfg.Network.MAC); err != nil {
		a.emit(session.EventNote{Reason: fmt.Sprintf("the sandbox has no interface but its loopback: %v", err)})
		return
	}
	n.Interface = name
}

// addPair makes a pair of interfaces, of which the far one is in a namespace of its own.
func (a *agent) addPair(name string, mac net.HardwareAddr) error {
	link, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make the link of the far end: %w", err)
	}
	defer func() { _ = unix.Close(link[0]) }()
	err = unix.SetsockoptInt(link[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	if err == nil {
		err = a.forkFarEnd(link[1])
	}
	_ = unix.Close(link[1])
	if err != nil {
		return fmt.Errorf("make a network namespace for the far end: %w", err)
	}
	pid, _, err := stage.ReceiveHello(link[0], helloMillis)
	if err != nil {
		return err
	}
	// The process ends; the namespace lives as long as this descriptor.
	if _, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("keep the network namespace of the far end: %w", err)
	}
	if err := linkPair(name, mac, pid); err != nil {
		return fmt.Errorf("make a pair of interfaces: %w", err)
	}
	status, theirs, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	err = stage.Send(link[0], &stage.Order{Role: stage.RoleFarEnd, Name: name}, theirs)
	_ = unix.Close(theirs)
	if err != nil {
		_ = unix.Close(status)
		return err
	}
	return readRefusal(status)
}

// forkFarEnd starts a process in a network namespace of its own, which waits for its
// order. A container's agent may make one only within a user namespace.
func (a *agent) forkFarEnd(link int) error {
	null := uintptr(a.null)
	a.starting.Lock()
	defer a.starting.Unlock()
	var err error
	for _, sys := range []*syscall.SysProcAttr{
		{Cloneflags: unix.CLONE_NEWNET},
		{
			Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWUSER,
			// Mapping root itself would take CAP_SETFCAP.
			UidMappings: []syscall.SysProcIDMap{{HostID: sinkUID, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: sinkUID, Size: 1}},
			Credential: &syscall.Credential{NoSetGroups: true},
		},
	} {
		sys.Pdeathsig = unix.SIGKILL
		_, err = syscall.ForkExec(fmt.Sprint(stage.SelfPrefix, a.exe), []string{"init"}, &syscall.ProcAttr{
			Env: []string{stage.Env}, Dir: "/",
			Files: []uintptr{null, null, null, uintptr(link), uintptr(a.exe)}, Sys: sys,
		})
		if err == nil {
			return nil
		}
	}
	return os.NewSyscallError("clone", err)
}

// linkPair has the kernel make a pair of which one end is here and the other in the network
// namespace of a process. Both are down.
func linkPair(name string, mac net.HardwareAddr, pid int) error {
	req := nl.NewNetlinkRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	req.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(name)))
	if len(mac) > 0 {
		req.AddData(nl.NewRtAttr(unix.IFLA_ADDRESS, mac))
	}
	info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated("veth"))
	peer := info.AddRtAttr(nl.IFLA_INFO_DATA, nil).AddRtAttr(nl.VETH_INFO_PEER, nil)
	nl.NewIfInfomsgChild(peer, unix.AF_UNSPEC)
	peer.AddRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(name))
	peer.AddRtAttr(unix.IFLA_NET_NS_PID, binary.NativeEndian.AppendUint32(nil, uint32(pid)))
	req.AddData(info)
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
